import type { CodeOptions } from "ajv";
import { RE2JS } from "re2js";
import type { WorkBudget } from "./work-budget.ts";

/**
 * How a validator matches patterns: in time proportional to the text, because schemas come from models and from servers of
 * others, and the usual engine needs exponential time for some. A pattern that only a backtracking engine can match (look-around,
 * references back) matches everything, and is added to `unsupported`. Throws for what is no pattern at all.
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
      // The key under which the validator keeps it.
      toString: () => `linear ${pattern}`,
    };
  };
  return Object.assign(engine, { code: "linearPatterns" });
}

function compile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch {
    // What is no pattern at all is told by the engine that everybody knows.
    void new RegExp(pattern);
    return undefined;
  }
}
