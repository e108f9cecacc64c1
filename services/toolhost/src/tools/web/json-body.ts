import type { JsonValue } from "@bufbuild/protobuf";
import { isStorable, maxJsonDepth } from "@reeve/contracts/rules/nesting";

const defaultMaxChars = 256_000;
/** The result has the value one level below itself. */
const maxDepth = maxJsonDepth - 1;

/**
 * Returns the value of a JSON text; or the text itself if it is not valid JSON, or is longer or deeper than a result may have. The
 * depth is known before anything is parsed. Default of `maxChars`: 256,000.
 */
export function jsonBody(text: string, maxChars: number = defaultMaxChars): JsonValue {
  if (text.length > maxChars || depthOf(text) > maxDepth) return text;
  try {
    // The result of a parser of JSON is a JSON value.
    const value = JSON.parse(text) as JsonValue;
    return isStorable(value, maxDepth) ? value : text;
  } catch {
    return text;
  }
}

/** Returns how deep a JSON text is nested. It takes one pass, whatever the text is. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isInString) {
      if (character === "\\") at++;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === "{" || character === "[") deepest = Math.max(deepest, ++depth);
    else if (character === "}" || character === "]") depth--;
  }
  return deepest;
}
