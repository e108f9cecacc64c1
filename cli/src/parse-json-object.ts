import type { JsonObject } from "@bufbuild/protobuf";

/** Returns the object that `text` is as JSON, or undefined if it is anything else. */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
    // Every member of parsed JSON is JSON.
    return isObject ? (parsed as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
