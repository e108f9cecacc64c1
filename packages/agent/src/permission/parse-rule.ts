import type { ArgumentCondition, CallPattern, PathStep } from "./permission-rule.ts";
import { RuleScanner, RuleSyntaxError } from "./rule-scanner.ts";
import type { MatcherOrProblem } from "./text-matchers.ts";
import { equalMatcher, globMatcher, regexMatcher } from "./text-matchers.ts";

/** The maximum length of a rule, in characters. */
export const maxRuleCharacters = 1_000;
/** How many conditions a rule may have, and how many steps a path. */
export const maxRuleParts = 20;

/** A pattern, or what is wrong with the text of a rule. */
export type ParsedRule =
  | { readonly pattern: CallPattern; readonly problem?: undefined }
  | { readonly pattern?: undefined; readonly problem: string };

/**
 * Parses the calls that a rule matches: `Tool`, where `*` in the name matches any characters; `/regex/` for the name;
 * `Tool(glob)` for the primary argument; or `Tool(path.to.argument ~ "glob", other = "text")`.
 */
export function parseRule(text: string): ParsedRule {
  try {
    if (text.length > maxRuleCharacters) {
      throw new RuleSyntaxError(`has more than ${maxRuleCharacters} characters`);
    }
    return { pattern: ruleOf(new RuleScanner(text)) };
  } catch (error) {
    if (error instanceof RuleSyntaxError) return { problem: error.message };
    throw error;
  }
}

function ruleOf(scanner: RuleScanner): CallPattern {
  const tool = toolOf(scanner);
  scanner.skipSpaces();
  if (scanner.isAtEnd) return { tool, conditions: [] };
  if (!scanner.take("(")) throw scanner.unexpected('"(" after the name of the tool');
  const rest = scanner.remaining().trimEnd();
  if (!rest.endsWith(")")) throw new RuleSyntaxError('has "(" but does not end with ")"');
  const inner = rest.slice(0, -1);
  if (inner.trim() === "*") return { tool, conditions: [] };
  if (inner.trim() === "") throw new RuleSyntaxError("has nothing in parentheses; leave them out");
  if (!startsCondition(inner)) {
    const matcher = valid(globMatcher(inner));
    const isExact = !inner.includes("*");
    return { tool, conditions: [{ path: undefined, isNegated: false, isExact, matcher }] };
  }
  return { tool, conditions: conditionsOf(new RuleScanner(inner)) };
}

function toolOf(scanner: RuleScanner): CallPattern["tool"] {
  scanner.skipSpaces();
  if (scanner.isAt("/")) {
    const { source, flags } = scanner.regex();
    return valid(regexMatcher(source, flags));
  }
  const name = scanner.while(/[A-Za-z0-9_*-]/);
  if (name === "") throw scanner.unexpected("the name of a tool, a pattern with *, or /regex/");
  return valid(globMatcher(name));
}

/** Whether the text in parentheses begins like a condition: a path, an operator, and a quoted text or a regular expression. */
function startsCondition(text: string): boolean {
  return /^\s*[A-Za-z_*"][^\s=~!]*\s*!?(=~|~|=)\s*["/]/.test(text);
}

function conditionsOf(scanner: RuleScanner): readonly ArgumentCondition[] {
  const conditions: ArgumentCondition[] = [];
  do {
    if (conditions.length === maxRuleParts) {
      throw new RuleSyntaxError(`has more than ${maxRuleParts} conditions`);
    }
    conditions.push(conditionOf(scanner));
    scanner.skipSpaces();
  } while (scanner.take(","));
  if (!scanner.isAtEnd) throw scanner.unexpected('"," or the end of the conditions');
  return conditions;
}

function conditionOf(scanner: RuleScanner): ArgumentCondition {
  const path = pathOf(scanner);
  scanner.skipSpaces();
  const isNegated = scanner.take("!");
  const operator = scanner.take("=~") ? "=~" : scanner.take("~") ? "~" : scanner.take("=") && "=";
  if (operator === false) throw scanner.unexpected("one of ~ = =~ !~ != !=~");
  scanner.skipSpaces();
  const isExact = operator === "=" && !isNegated;
  return { path, isNegated, isExact, matcher: valid(matcherOf(scanner, operator)) };
}

function matcherOf(scanner: RuleScanner, operator: "~" | "=" | "=~"): MatcherOrProblem {
  if (scanner.isAt("/")) {
    if (operator !== "=~") throw new RuleSyntaxError(`${operator} takes a text in double quotes`);
    const { source, flags } = scanner.regex();
    return regexMatcher(source, flags);
  }
  const text = scanner.quoted();
  switch (operator) {
    case "~":
      return globMatcher(text);
    case "=":
      return equalMatcher(text.replaceAll("\\\\", "\\"));
    case "=~":
      return regexMatcher(text);
  }
}

function pathOf(scanner: RuleScanner): readonly PathStep[] {
  const steps: PathStep[] = [];
  do {
    scanner.skipSpaces();
    steps.push(memberOf(scanner));
    while (scanner.take("[")) {
      const index = scanner.take("*") ? "*" : scanner.while(/\d/);
      if (index === "" || !scanner.take("]")) throw scanner.unexpected("[*] or an index as [0]");
      steps.push(index === "*" ? { kind: "every" } : { kind: "element", index: Number(index) });
    }
    if (steps.length > maxRuleParts) {
      throw new RuleSyntaxError(`has a path of more than ${maxRuleParts} parts`);
    }
  } while (scanner.take("."));
  return steps;
}

function memberOf(scanner: RuleScanner): PathStep {
  if (scanner.isAt('"')) {
    return { kind: "member", name: scanner.quoted().replaceAll("\\\\", "\\") };
  }
  if (scanner.take("*")) return { kind: "every" };
  const name = scanner.while(/[A-Za-z0-9_$-]/);
  if (name === "") throw scanner.unexpected("the name of an argument");
  return { kind: "member", name };
}

function valid({ matcher, problem }: MatcherOrProblem): NonNullable<MatcherOrProblem["matcher"]> {
  if (matcher === undefined) throw new RuleSyntaxError(problem);
  return matcher;
}
