import { RE2JS } from "re2js";
import { parseNamePattern } from "../tools/name-pattern.ts";
import type { TextMatcher } from "./permission-rule.ts";

/** A matcher, or why there is none. */
export type MatcherOrProblem =
  | { readonly matcher: TextMatcher; readonly problem?: undefined }
  | { readonly matcher?: undefined; readonly problem: string };

/** Matches a whole text: `*` matches any characters, and `\` escapes the next one. */
export function globMatcher(glob: string): MatcherOrProblem {
  const pattern = parseNamePattern(glob);
  if (pattern === undefined) {
    return { problem: glob === "" ? "a pattern is empty" : `"${glob}" ends with an escape` };
  }
  const matches = (text: string) => pattern.matches(text);
  // A pattern without a star is compared once; one with stars may begin again at each character.
  return { matcher: { cost: glob.includes("*") ? glob.length : 1, matches } };
}

/** Matches exactly one text. */
export function equalMatcher(expected: string): MatcherOrProblem {
  return { matcher: { cost: 1, matches: (text) => text === expected } };
}

/** The largest program of a regular expression: each character of a text costs as many steps. */
const maxProgram = 2_000;

/** A regular expression that is matched in linear time. */
export interface LinearExpression {
  readonly source: string;
  /** Steps for each character of a text. */
  readonly cost: number;
  matches(text: string): boolean;
  /** Returns the places that match, one for each search: it reads the text at most from the end of the place before to its own end. */
  placesIn(text: string): Iterator<{ readonly start: number; readonly end: number }, undefined>;
}

/** An expression, or why there is none. */
export type ExpressionOrProblem =
  | { readonly expression: LinearExpression; readonly problem?: undefined }
  | { readonly expression?: undefined; readonly problem: string };

/** Compiles a regular expression for matching in linear time. `flags` is empty or `i`. */
export function linearExpression(source: string, flags = ""): ExpressionOrProblem {
  try {
    // Throws for an invalid expression, with a message that names the mistake.
    void new RegExp(source);
    const compiled = RE2JS.compile(
      RE2JS.translateRegExp(source),
      flags === "i" ? RE2JS.CASE_INSENSITIVE : 0,
    );
    const cost = compiled.programSize();
    if (cost > maxProgram) return { problem: `/${source}/ is too large; use a shorter one` };
    return {
      expression: {
        source,
        cost,
        matches: (text) => compiled.matcher(text).find(),
        *placesIn(text) {
          const matcher = compiled.matcher(text);
          while (matcher.find()) yield { start: matcher.start(), end: matcher.end() };
          return undefined;
        },
      },
    };
  } catch {
    return {
      problem: `/${source}/ is not a regular expression that can be matched in linear time: no lookaround and no back-references`,
    };
  }
}

/** Matches a text that contains a match of a regular expression, in linear time. `flags` is empty or `i`. */
export function regexMatcher(source: string, flags = ""): MatcherOrProblem {
  const { expression, problem } = linearExpression(source, flags);
  if (expression === undefined) return { problem };
  const { cost, matches } = expression;
  return { matcher: { cost, matches } };
}
