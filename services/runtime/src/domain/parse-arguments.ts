import type { JsonObject } from "@bufbuild/protobuf";

/**
 * How deep arguments may be nested. A reader of messages gives up at a depth of 100, of which a level of JSON takes three:
 * what is deeper would make a log that nobody can read.
 */
const mostLevels = 24;

/**
 * The arguments that a model wrote, as an object. Undefined when they are none, or hold what no log can: numbers beyond all
 * bounds, halves of characters, and nesting without end. Some models write nothing at all for a tool without arguments.
 */
export function parseArguments(text: string): JsonObject | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && isStorable(value, mostLevels)
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

function isStorable(value: unknown, levels: number): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  return Object.entries(value).every(
    ([key, inner]) => key.isWellFormed() && isStorable(inner, levels - 1),
  );
}
