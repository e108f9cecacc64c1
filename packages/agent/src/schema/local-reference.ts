import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** Returns the schema that a reference such as `#/$defs/order` names within a schema, or undefined. */
export function localReference(
  root: JsonObject,
  reference: JsonValue | undefined,
): JsonObject | undefined {
  if (typeof reference !== "string" || !reference.startsWith("#")) return undefined;
  let found: JsonValue = root;
  for (const part of reference.split("/").slice(1)) {
    const key = unescaped(part);
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Array.isArray(found) ? (found[Number(key)] ?? null) : (found[key] ?? null);
  }
  const isPointer = reference === "#" || reference.startsWith("#/");
  return isPointer && isSchema(found) ? found : undefined;
}

/** Whether a value is a schema with keywords, not `true` or `false`. */
export function isSchema(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unescaped(part: string): string {
  let text = part;
  try {
    text = decodeURIComponent(part);
  } catch {
    // Not encoded.
  }
  return text.replaceAll("~1", "/").replaceAll("~0", "~");
}
