import type { MessageInitShape } from "@bufbuild/protobuf";
import { equals } from "@bufbuild/protobuf";
import type { AgentSpec, Limits, PlannedDelegateSchema } from "@reeve/contracts/agent";
import { ApprovalPolicySchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { DelegateAgent } from "@reeve/contracts/run";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import type { ResolvedAgent, ResolvedDelegate } from "../resolve/resolved-agent.ts";
import { priceProblem } from "../spec/price-problem.ts";
import { truncateToBytes } from "../text/truncate-to-bytes.ts";
import { delegateProblems } from "./collect-delegates.ts";

/**
 * Resolves all agents that a run can call as tools, each by itself. Throws a Failure that names the agent if one cannot be resolved, does
 * not exist, or could call itself: there is no partial result.
 */
export function resolveDelegates(
  root: AgentSpec,
  agents: readonly DelegateAgent[],
  resolve: (spec: AgentSpec) => ResolvedAgent,
): readonly ResolvedDelegate[] {
  const [problem] = delegateProblems(root, agents);
  if (problem !== undefined) {
    const isUnknown = problem.reason === "AGENT_NOT_FOUND";
    throw refusal(problem, isUnknown ? ErrorReason.AGENT_NOT_FOUND : ErrorReason.INVALID_AGENT);
  }
  return agents.flatMap((agent) => {
    const { spec, agentId } = agent;
    if (spec === undefined) return [];
    assertSamePolicy(root, spec, agentId);
    try {
      return [{ agent, resolved: resolve(spec) }];
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw of(agentId, error);
    }
  });
}

/** Throws if the limit on the cost of a run cannot be kept because a delegate has a model without a price. */
export function assertPriced(
  delegates: readonly ResolvedDelegate[],
  limits: Pick<Limits, "budgets">,
): void {
  for (const { agent, resolved } of delegates) {
    for (const { model } of [resolved.executor, ...resolved.fallbacks]) {
      const problem = priceProblem(agent.spec ?? {}, model, limits);
      if (problem === undefined) continue;
      const description = `agent "${agent.agentId}": ${problem}`;
      const violation = { field: "delegates", description, reason: "UNKNOWN_COST" };
      throw refusal(violation, ErrorReason.INVALID_AGENT);
    }
  }
}

/** How many warnings about one delegate are listed. */
const maxWarnings = 5;

/** Returns warnings about what has no effect while an agent is a delegate, and about its own spec. */
export function delegateWarnings(delegates: readonly ResolvedDelegate[]): readonly string[] {
  return delegates.flatMap(({ agent: { agentId, spec }, resolved: { warnings } }) => {
    const ignored = [
      ...(spec?.planningEnabled ? ["planning_enabled has no effect in runs of other agents"] : []),
      ...(spec?.budgets?.maxWallClock
        ? ["budgets.max_wall_clock has no effect in runs of other agents"]
        : []),
    ];
    return [...ignored, ...warnings]
      .slice(0, maxWarnings)
      .map((warning) => `delegates: agent "${agentId}": ${warning}`);
  });
}

/** Returns what the plan of a run says about its delegates. */
export function plannedDelegates(
  delegates: readonly ResolvedDelegate[],
): MessageInitShape<typeof PlannedDelegateSchema>[] {
  return delegates.map(({ agent: { agentId, revision }, resolved: { plan, tools } }) => ({
    agentId,
    revision,
    models: plan.models.filter(({ role }) => role !== "planner"),
    tools: tools.map(({ name }) => name),
    planHash: plan.hash,
  }));
}

/** One policy decides on all approvals of a run. */
function assertSamePolicy(root: AgentSpec, { approvalPolicy }: AgentSpec, agentId: string): void {
  if (approvalPolicy === undefined) return;
  const { approvalPolicy: ofRoot } = root;
  if (ofRoot !== undefined && equals(ApprovalPolicySchema, ofRoot, approvalPolicy)) return;
  const description = `agent "${agentId}" has another approval_policy than the agent of the run, which decides on all approvals of the run; give both the same, or remove that of "${agentId}"`;
  const violation = { field: "delegates", description, reason: "UNSUPPORTED_CAPABILITY" };
  throw refusal(violation, ErrorReason.INVALID_AGENT);
}

function refusal({ field, ...rest }: Violation, reason: ErrorReason): Failure {
  const message = `${field}: ${rest.description}`;
  return new Failure("precondition", reason, message, { violations: [{ field, ...rest }] });
}

const maxProblemBytes = 4_000;

function of(agentId: string, { kind, reason, message, violations, metadata }: Failure): Failure {
  const named = (text: string) => truncateToBytes(`agent "${agentId}": ${text}`, maxProblemBytes);
  return new Failure(kind, reason, `delegates: ${named(message)}`, {
    metadata,
    violations: violations.map((each) => ({
      ...each,
      field: "delegates",
      description: named(`${each.field}: ${each.description}`),
    })),
  });
}
