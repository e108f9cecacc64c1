import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isSchema, localReference } from "./local-reference.ts";

/**
 * Whether a schema of an object names a property: itself, or in any schema that it combines or refers to. The running time is
 * linear in the size of the schema, also when its references are circular.
 */
export function declaresProperty(root: JsonObject, name: string): boolean {
  const seen = new Set<JsonObject>();
  const pending: JsonObject[] = [root];
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    if (seen.has(schema)) continue;
    seen.add(schema);
    if (names(schema, name)) return true;
    pending.push(...combined(schema, root));
  }
  return false;
}

function names({ properties, required }: JsonObject, name: string): boolean {
  return (
    (isSchema(properties) && Object.hasOwn(properties, name)) ||
    (Array.isArray(required) && required.includes(name))
  );
}

/** Returns the schemas that apply to the same object. */
function combined(schema: JsonObject, root: JsonObject): readonly JsonObject[] {
  const { allOf, anyOf, oneOf, dependentSchemas, dependencies } = schema;
  const all: readonly (JsonValue | undefined)[] = [
    ...[allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : [])),
    ...[dependentSchemas, dependencies].flatMap((map) => (isSchema(map) ? Object.values(map) : [])),
    ...["if", "then", "else"].map((key) => schema[key]),
    ...["$ref", "$dynamicRef"].map((key) => localReference(root, schema[key])),
  ];
  return all.filter(isSchema);
}
