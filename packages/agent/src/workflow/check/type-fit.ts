import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isSchema, localReference } from "../../schema/local-reference.ts";

/** The JSON types that a schema permits, as far as its keywords tell. Undefined: unknown, so any. */
type Types = ReadonlySet<string> | undefined;

/**
 * Returns why no value of a schema fits another one, by the types that both permit. Undefined: some may. Keywords that it does not know
 * permit everything.
 */
export function fitProblem(
  from: JsonObject,
  to: JsonObject,
  typesOf: TypesOfSchema,
): string | undefined {
  const given = typesOf(from);
  const taken = typesOf(to);
  if (given === undefined || taken === undefined) return undefined;
  const fits = [...given].some((each) => [...taken].some((other) => isWithin(each, other)));
  return fits ? undefined : `${list(given)} is not ${list(taken)}`;
}

/** Returns why a constant does not fit a schema, by its type and its `enum`. Undefined: it may. */
export function constantProblem(
  value: JsonValue,
  schema: JsonObject,
  typesOf: TypesOfSchema,
): string | undefined {
  const given = typeOfValue(value);
  const problem = fitProblem({ type: given }, schema, typesOf);
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

/** Returns the types of a schema that is its own root. */
export type TypesOfSchema = (schema: JsonObject) => Types;

/**
 * Returns a function that reads the types of schemas, in at most `maxSteps` schemas for all of its calls; after that, all types are
 * unknown. It reads each schema once for each root. A schema that refers to itself is unknown.
 */
export function typeReader(maxSteps: number): TypesOfSchema {
  const known = new WeakMap<JsonObject, Map<JsonObject, Types>>();
  let steps = maxSteps;

  function read(schema: JsonObject, root: JsonObject, ofRoot: Map<JsonObject, Types>): Types {
    if (ofRoot.has(schema)) return ofRoot.get(schema);
    if (steps-- <= 0) return undefined;
    // Unknown while it is read, for the references in it.
    ofRoot.set(schema, undefined);
    const types = ownTypes(schema) ?? typesOfParts(schema, root, ofRoot);
    ofRoot.set(schema, types);
    return types;
  }

  function typesOfParts(
    { $ref, anyOf, oneOf }: JsonObject,
    root: JsonObject,
    ofRoot: Map<JsonObject, Types>,
  ): Types {
    const referred = localReference(root, $ref);
    if (referred !== undefined) return read(referred, root, ofRoot);
    const alternatives = Array.isArray(anyOf) ? anyOf : oneOf;
    if (!Array.isArray(alternatives)) return undefined;
    const types = new Set<string>();
    for (const each of alternatives) {
      const ofEach = isSchema(each) ? read(each, root, ofRoot) : undefined;
      if (ofEach === undefined) return undefined;
      for (const type of ofEach) types.add(type);
    }
    return types;
  }

  return (schema) => {
    const ofRoot = known.get(schema) ?? new Map<JsonObject, Types>();
    known.set(schema, ofRoot);
    return read(schema, schema, ofRoot);
  };
}

/** Returns the types that a schema permits by its own keywords. */
function ownTypes({ type, enum: choices, const: only }: JsonObject): Types {
  if (typeof type === "string") return new Set([type]);
  if (Array.isArray(type)) return new Set(jsonTypes.filter((each) => type.includes(each)));
  if (only !== undefined) return new Set([typeOfValue(only)]);
  return Array.isArray(choices) ? new Set(choices.map(typeOfValue)) : undefined;
}

const jsonTypes = ["null", "boolean", "integer", "number", "string", "array", "object"];

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
