import type { JsonValue } from "@bufbuild/protobuf";
import { isStorable, maxJsonDepth } from "@reeve/contracts/rules/nesting";

/** The size of the values that a node gets or joins, in characters of JSON without its punctuation. */
const maxCharacters = 1024 * 1024;
/** More than the log can have: parts of a value may still be passed on. */
const maxLevels = 64;

/** Returns why nodes cannot work with a value that comes from outside of a workflow, such as a result. Undefined: they can. */
export function enteringProblem(value: JsonValue): string | undefined {
  return isStorable(value)
    ? undefined
    : `it is nested more than ${maxJsonDepth} levels deep, or has a number or a character that no log can have`;
}

/**
 * Returns why a node cannot work with a value that it builds from others. Undefined: it can. Takes work in proportion to the limit at most,
 * although a few joins of joins are a value of any size.
 */
export function joinedProblem(value: JsonValue): string | undefined {
  let left = maxCharacters;
  const pending: { readonly value: JsonValue; readonly level: number }[] = [{ value, level: 1 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    left -= typeof next.value === "string" ? next.value.length + 1 : 1;
    if (left < 0) return `it has more than ${maxCharacters} characters of JSON`;
    if (typeof next.value !== "object" || next.value === null) continue;
    if (next.level > maxLevels) return `it is nested more than ${maxLevels} levels deep`;
    const level = next.level + 1;
    for (const [key, each] of Object.entries(next.value)) {
      left -= Array.isArray(next.value) ? 0 : key.length;
      pending.push({ value: each, level });
    }
  }
  return undefined;
}
