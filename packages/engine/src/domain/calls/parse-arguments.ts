import type { JsonObject } from "@bufbuild/protobuf";
import { isStorable } from "@reeve/contracts/rules/nesting";

/**
 * Parses the arguments that a model wrote. Undefined if they are not a JSON object, or cannot be stored in a log: numbers out of
 * range, unpaired surrogates, and deep nesting. Empty text is an empty object: some models write it for tools without
 * arguments.
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
