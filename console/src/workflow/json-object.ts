import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** Whether a value is an object, such as a JSON Schema with keywords. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
