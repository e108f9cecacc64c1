import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** What compiling may cost, in units of about a third of a millisecond: nothing else happens meanwhile. */
export const maxCompileCost = 1_000;

/** The costs of an object or a list, of a keyword or a name in an object, and of a schema that is only `true` or `false`. */
const perValue = 1;
const perKey = 0.25;
const perBoolean = 0.1;
/** The costs of a member of a list, and of a value to choose from: the validator loops over them. */
const perMember = 0.1;
const perChoice = 0.02;
/** The cost of a name on which a property depends: the validator has code for each. */
const perDependency = 0.5;
/** The cost of each name in the schema for each keyword that excludes what no other keyword has evaluated. */
const perExclusion = 0.1;
/** The cost of a pattern, besides its length and the states into which its repetitions unfold. */
const perPattern = 10;
const charactersPerUnit = 4;
const statesPerUnit = 4;
/** The engine refuses a pattern that repeats something more often. */
const maxRepetitions = 1_000;

/** Keywords with values that are compared as they are, whatever they contain. */
const literal: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"]);
const dependent: ReadonlySet<string> = new Set(["dependencies", "dependentRequired"]);

/**
 * Returns what compiling a schema costs at most, or a value above the limit as soon as it is exceeded. Each object and each list counts,
 * because it may be a schema or the entry of a keyword.
 */
export function compileCost(schema: JsonObject): number {
  let cost = 0;
  let names = 0;
  let exclusions = 0;
  const pending: JsonValue[] = [schema];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value === "boolean") cost += perBoolean;
    if (cost + names * exclusions * perExclusion > maxCompileCost) break;
    if (typeof value !== "object" || value === null) continue;
    cost += perValue;
    if (Array.isArray(value)) {
      cost += value.length * perMember;
      for (const each of value) pending.push(each);
      continue;
    }
    for (const [key, given] of Object.entries(value)) {
      cost += visit(key, given, pending);
      names++;
      if (key === "unevaluatedProperties") exclusions++;
    }
  }
  return cost + names * exclusions * perExclusion;
}

/** Returns the cost of a keyword or a name, and remembers its value if it may be a schema. */
function visit(key: string, value: JsonValue, pending: JsonValue[]): number {
  if (literal.has(key) && Array.isArray(value)) return perKey + value.length * perChoice;
  if (!literal.has(key) || isObject(value)) pending.push(value);
  if (dependent.has(key) && isObject(value)) return perKey + costOfDependencies(value);
  if (key === "pattern" && typeof value === "string") return perKey + costOfPattern(value);
  if (key !== "patternProperties" || !isObject(value)) return perKey;
  return Object.keys(value).reduce((sum, pattern) => sum + costOfPattern(pattern), perKey);
}

/** A property may have the name of a keyword with a literal value, and then has a schema. */
function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function costOfDependencies(lists: JsonObject): number {
  return Object.values(lists).reduce<number>(
    (sum, list) => sum + (Array.isArray(list) ? list.length * perDependency : 0),
    0,
  );
}

function costOfPattern(pattern: string): number {
  const repetitions = [...pattern.matchAll(/\{(\d{1,9})(?:,(\d{0,9}))?\}/g)];
  const states = repetitions.reduce(
    (sum, [, min, max]) => sum + Math.min(Math.max(Number(min), Number(max ?? 0)), maxRepetitions),
    0,
  );
  return perPattern + pattern.length / charactersPerUnit + states / statesPerUnit;
}
