import { parseRule } from "./parse-rule.ts";
import type { PermissionLevel } from "./permission-levels.ts";
import { behaviors } from "./permission-rule.ts";

/** Returns a level with one rule and no default, which decides about the calls that the rule matches only; or what is wrong with it. */
export function ruleLevel(
  text: string,
  behavior: keyof typeof behaviors,
):
  | { readonly level: PermissionLevel; readonly problem?: undefined }
  | { readonly level?: undefined; readonly problem: string } {
  const { pattern, problem } = parseRule(text);
  if (pattern === undefined) return { problem };
  const rule = { text, pattern, behavior: behaviors[behavior], policyRule: "" };
  return { level: { source: "agent", defaultBehavior: undefined, rules: [rule] } };
}
