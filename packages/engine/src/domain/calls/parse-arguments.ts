import type { JsonObject } from "@bufbuild/protobuf";
import { isStorable } from "@reeve/contracts/nesting";

/**
 * The arguments that a model wrote, as an object. Undefined when they are none, or hold what no log can: numbers beyond all
 * bounds, halves of characters, and nesting without end. Some models write nothing at all for a tool without arguments.
 */
export function parseArguments(text: string): JsonObject | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && isStorable(value)
      ? // JSON.parse gives only JSON.
        (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
