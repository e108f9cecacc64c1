import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isSchema, localReference } from "../../schema/local-reference.ts";

/** The JSON types that a schema permits, as far as its keywords tell. Undefined: unknown, so any. */
type Types = ReadonlySet<string> | undefined;

/**
 * Returns why no value of a schema fits another one, by the types that both permit. Undefined: some may. Keywords that it does not know
 * permit everything.
 */
export function fitProblem(from: JsonObject, to: JsonObject): string | undefined {
  const given = typesOf(from, from, maxDepth);
  const taken = typesOf(to, to, maxDepth);
  if (given === undefined || taken === undefined) return undefined;
  const fits = [...given].some((each) => [...taken].some((other) => isWithin(each, other)));
  return fits ? undefined : `${list(given)} is not ${list(taken)}`;
}

/** Returns why a constant does not fit a schema, by its type and its `enum`. Undefined: it may. */
export function constantProblem(value: JsonValue, schema: JsonObject): string | undefined {
  const given = typeOfValue(value);
  const problem = fitProblem({ type: given }, schema);
  if (problem !== undefined) return problem;
  const { enum: choices } = schema;
  if (!Array.isArray(choices) || typeof value === "object" || choices.includes(value)) {
    return undefined;
  }
  return `${JSON.stringify(value)} is not one of ${JSON.stringify(choices)}`;
}

/** Returns the schema of a part of the values of a schema. Empty, so any value, if the keywords do not tell. */
export function schemaAt(schema: JsonObject, path: readonly string[]): JsonObject {
  let found: JsonObject = schema;
  for (const key of path) {
    const { $ref, properties, items } = found;
    const known = $ref === undefined ? found : localReference(schema, $ref);
    if (known !== found) return {};
    const next = isSchema(properties) ? properties[key] : /^\d+$/.test(key) ? items : undefined;
    if (!isSchema(next)) return {};
    found = next;
  }
  return found;
}

/** References may be circular. */
const maxDepth = 8;

function typesOf(schema: JsonObject, root: JsonObject, depth: number): Types {
  if (depth === 0) return undefined;
  const { type, $ref, anyOf, oneOf, enum: choices, const: only } = schema;
  if (typeof type === "string") return new Set([type]);
  if (Array.isArray(type)) return new Set(type.filter((each) => typeof each === "string"));
  if (only !== undefined) return new Set([typeOfValue(only)]);
  if (Array.isArray(choices)) return new Set(choices.map(typeOfValue));
  const referred = localReference(root, $ref);
  if (referred !== undefined) return typesOf(referred, root, depth - 1);
  const alternatives = Array.isArray(anyOf) ? anyOf : oneOf;
  if (!Array.isArray(alternatives)) return undefined;
  const all = alternatives.map((each) =>
    isSchema(each) ? typesOf(each, root, depth - 1) : undefined,
  );
  const known = all.filter((each) => each !== undefined);
  return known.length < all.length ? undefined : new Set(known.flatMap((each) => [...each]));
}

function typeOfValue(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** A number may be an integer. */
function isWithin(given: string, taken: string): boolean {
  return given === taken || (isNumber(given) && isNumber(taken));
}

function isNumber(type: string): boolean {
  return type === "number" || type === "integer";
}

function list(types: ReadonlySet<string>): string {
  return [...types].join(" or ");
}
