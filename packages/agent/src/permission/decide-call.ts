import { create } from "@bufbuild/protobuf";
import type { PermissionDecision } from "@reeve/contracts/tool";
import { PermissionBehavior, PermissionDecisionSchema } from "@reeve/contracts/tool";
import { WorkBudget, WorkBudgetExceeded } from "../schema/work-budget.ts";
import { runtimeSource } from "../tools/runtime-tools.ts";
import type { CheckedCall } from "./match-call.ts";
import { matchesCall } from "./match-call.ts";
import type { LevelRule, PermissionLevel } from "./permission-levels.ts";

const { ASK, ALLOW, DENY } = PermissionBehavior;

/** The steps of the decisions about the calls of one turn at most: about half a second of a processor in the worst case. */
export const maxPermissionWork = 100_000_000;

/** From the strictest behavior to the mildest. */
const strictness: readonly PermissionBehavior[] = [DENY, ASK, ALLOW];

/**
 * Decides on a call. In a level, a rule that denies overrides one that allows, which overrides one that asks; without a matching
 * rule its default decides, but not about tools of the runtime, which act on the run alone. The strictest level decides. Undefined: no
 * level says anything. A call that takes more than `work` to be checked is denied by the rule that could not be checked. A decision that
 * asks names the source of each level that does, so that a level that allows more never hides one that asks.
 */
export function decideCall(
  levels: readonly PermissionLevel[],
  call: CheckedCall,
  work: WorkBudget = new WorkBudget(maxPermissionWork),
): PermissionDecision | undefined {
  const decisions = levels.flatMap((level) => decideLevel(level, call, work) ?? []);
  const [strictest] = decisions.toSorted(
    (a, b) => strictness.indexOf(a.behavior) - strictness.indexOf(b.behavior),
  );
  if (strictest?.behavior !== ASK) return strictest;
  const asking = decisions.filter(({ behavior }) => behavior === ASK);
  const askingSources = [...new Set(asking.map(({ source }) => source))];
  return create(PermissionDecisionSchema, { ...strictest, askingSources });
}

function decideLevel(
  level: PermissionLevel,
  call: CheckedCall,
  work: WorkBudget,
): PermissionDecision | undefined {
  for (const behavior of [DENY, ALLOW, ASK]) {
    const quantifier = behavior === ALLOW ? "every" : "some";
    for (const rule of level.rules) {
      if (rule.behavior !== behavior) continue;
      try {
        if (matchesCall(rule.pattern, call, quantifier, work)) {
          return decisionOf(level, rule, behavior);
        }
      } catch (error) {
        if (!(error instanceof WorkBudgetExceeded)) throw error;
        return decisionOf(level, rule, DENY);
      }
    }
  }
  return defaultOf(level, call.tool.source);
}

function defaultOf(
  { source, defaultBehavior, agentId = "" }: PermissionLevel,
  toolSource: string,
): PermissionDecision | undefined {
  if (defaultBehavior === undefined || toolSource === runtimeSource) return undefined;
  const { behavior, policyRule } = defaultBehavior;
  return create(PermissionDecisionSchema, {
    behavior,
    rule: "default_behavior",
    source,
    policyRule,
    agentId,
  });
}

function decisionOf(
  { source, agentId = "" }: PermissionLevel,
  { text, policyRule }: LevelRule,
  behavior: PermissionBehavior,
): PermissionDecision {
  return create(PermissionDecisionSchema, { behavior, rule: text, source, policyRule, agentId });
}

/**
 * Returns the decision that denies every call of a tool, whatever its arguments are. Undefined: some calls may be executed. The
 * model does not see such a tool.
 */
export function deniesTool(
  levels: readonly PermissionLevel[],
  tool: CheckedCall["tool"],
): PermissionDecision | undefined {
  for (const level of levels) {
    const named = level.rules.filter(({ pattern }) => pattern.tool.matches(tool.name));
    const denying = named.find(
      ({ behavior, pattern }) => behavior === DENY && pattern.conditions.length === 0,
    );
    if (denying !== undefined) return decisionOf(level, denying, DENY);
    if (named.some(({ behavior }) => behavior !== DENY)) continue;
    const byDefault = defaultOf(level, tool.source);
    if (byDefault?.behavior === DENY) return byDefault;
  }
  return undefined;
}

/** Says which rule decided, in a form that fits into a sentence. */
export function describeDecision(decision: PermissionDecision): string {
  const { rule, source, policyRule, agentId } = decision;
  const what = rule === "default_behavior" ? "the default_behavior" : `the permission rule ${rule}`;
  if (source === "policy") return `${what} in the rule "${policyRule}" of the operator's policy`;
  return agentId === "" ? `${what} of the agent` : `${what} of the agent "${agentId}"`;
}
