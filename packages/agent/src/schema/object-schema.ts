import type { JsonObject } from "@bufbuild/protobuf";
import { isSchema, localReference } from "./local-reference.ts";

/** The property that holds a value which is no object. */
const valueName = "result";

/**
 * Returns a schema for the arguments of a tool, which are always an object, from a schema of any value: an object fits both
 * schemas, and any other value fits as the property `result`.
 */
export function objectSchema(schema: JsonObject): JsonObject {
  if (describesObject(schema, schema, new Set())) return { ...schema, type: "object" };
  const { $schema, $defs, definitions, ...value } = schema;
  return {
    ...($schema !== undefined && { $schema }),
    type: "object",
    properties: { [valueName]: value },
    required: [valueName],
    // References within the value start at the root.
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

/** Whether a schema permits objects and, except null, nothing else, as far as its keywords tell. */
function describesObject(schema: JsonObject, root: JsonObject, seen: Set<JsonObject>): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  const { type, $ref, allOf, anyOf, oneOf } = schema;
  if (type !== undefined) {
    const types = Array.isArray(type) ? type : [type];
    return types.includes("object") && types.every((each) => each === "object" || each === "null");
  }
  const isObject = (value: unknown) =>
    isSchema(value as JsonObject) && describesObject(value as JsonObject, root, seen);
  if ($ref !== undefined) return isObject(localReference(root, $ref));
  for (const choices of [anyOf, oneOf]) {
    if (Array.isArray(choices)) return choices.length > 0 && choices.every(isObject);
  }
  if (Array.isArray(allOf)) return allOf.some(isObject);
  return !["enum", "const", "items", "prefixItems"].some((keyword) =>
    Object.hasOwn(schema, keyword),
  );
}
