import type { JsonObject } from "@bufbuild/protobuf";
import { escapeUnsafe } from "./plain-text.ts";

/**
 * Formats JSON for a person who decides about it: whole, over several lines, and safe for a terminal. Characters that could
 * control the terminal are escaped, not removed, so that the text has the same value.
 */
export function wholeJson(value: JsonObject): string {
  return escapeUnsafe(JSON.stringify(value, undefined, 2));
}
