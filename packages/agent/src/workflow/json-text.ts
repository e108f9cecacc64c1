import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { typeReader } from "./check/type-fit.ts";
import { enteringProblem } from "./value-limits.ts";

/**
 * Returns the object or list that a text is in JSON. Undefined: the text is none, or one that nodes cannot work with. Large numbers
 * lose digits, so a text is read only where its parts are needed.
 */
export function recordIn(text: string): JsonValue | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    // JSON.parse gives only JSON.
    const value = JSON.parse(text) as JsonValue;
    return enteringProblem(value) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

/** How many schemas are read to find out whether an input takes texts. */
const maxSteps = 100;

/** Whether a schema says that it takes texts. */
export function takesText(schema: JsonObject): boolean {
  return typeReader(maxSteps)(schema)?.has("string") === true;
}

/** Returns a value as an input takes it: a text in JSON is read for an input that takes no texts. */
export function asInput(value: JsonValue, schema: JsonObject | undefined): JsonValue {
  if (typeof value !== "string" || schema === undefined) return value;
  const types = typeReader(maxSteps)(schema);
  return types === undefined || types.has("string") ? value : (recordIn(value) ?? value);
}
