import { decideCall } from "@reeve/agent/permission/decide-call";
import { ruleLevel } from "@reeve/agent/permission/rule-level";
import { WorkBudget } from "@reeve/agent/schema/work-budget";
import { PermissionBehavior } from "@reeve/contracts/tool";
import type { ToolCall } from "@reeve/contracts/tool";
import type { RunHead } from "../../head/run-head.ts";

/** The steps of all matches of one approval at most: about 50 ms of a processor. */
export const maxRuleWork = 10_000_000;

/** Whether a rule that allows matches a call of the run; not, if that takes too much work. */
export function matchesRule(
  rule: string,
  call: Pick<ToolCall, "name" | "arguments"> | undefined,
  { prepared }: Pick<RunHead, "prepared">,
  work: WorkBudget = new WorkBudget(maxRuleWork),
): boolean {
  const { level } = ruleLevel(rule, "allow");
  const tool = prepared?.tools.find(({ name }) => name === call?.name);
  if (level === undefined || tool === undefined || call?.arguments === undefined) return false;
  const checked = { tool, args: call.arguments };
  return decideCall([level], checked, work)?.behavior === PermissionBehavior.ALLOW;
}
