import type { CodeOptions } from "ajv";
import { RE2JS } from "re2js";
import type { WorkBudget } from "./work-budget.ts";

/**
 * Returns the engine with which a validator matches patterns in linear time. Schemas come from models and from third-party
 * servers, and the engine of JavaScript needs exponential time for some patterns. A pattern that only a backtracking engine can
 * match (lookaround, back-references) matches everything and is added to `unsupported`. Throws for an invalid pattern.
 */
export function linearPatterns(
  work: WorkBudget,
  unsupported: string[],
): NonNullable<CodeOptions["regExp"]> {
  const engine = (pattern: string) => {
    const compiled = compile(pattern);
    if (compiled === undefined) unsupported.push(pattern);
    const size = compiled?.programSize() ?? 0;
    return {
      test(text: string): boolean {
        work.spend(size * text.length);
        return compiled?.test(text) ?? true;
      },
      // The validator caches the pattern under this key.
      toString: () => `linear ${pattern}`,
    };
  };
  return Object.assign(engine, { code: "linearPatterns" });
}

function compile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch {
    // An invalid pattern throws here, with the message of JavaScript's own engine.
    void new RegExp(pattern);
    return undefined;
  }
}
