import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpec, Limits, PlannedDelegateSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { DelegateAgent } from "@reeve/contracts/run";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { mediaPriceProblem } from "../media/media-price.ts";
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
    try {
      return [{ agent, resolved: resolve(spec) }];
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw refusalOfDelegate(agentId, error);
    }
  });
}

/**
 * Throws if a limit on cost, of the run or of a delegate, cannot be kept because an agent that is called below it has a model without
 * a price.
 */
export function assertPriced(
  delegates: readonly ResolvedDelegate[],
  limits: Pick<Limits, "budgets">,
): void {
  assertAllPriced(delegates, limits);
  for (const { agent, resolved } of delegates) {
    if (resolved.limits.budgets?.maxCostUsd === undefined) continue;
    const below = reachableFrom(agent.spec?.delegates ?? [], delegates);
    assertAllPriced(below, resolved.limits);
  }
}

/** Returns the delegates that agents with these ids are, and those that they can reach. */
function reachableFrom(
  ids: readonly string[],
  delegates: readonly ResolvedDelegate[],
): readonly ResolvedDelegate[] {
  const found = new Set<string>();
  const pending = [...ids];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    pending.push(
      ...(delegates.find(({ agent }) => agent.agentId === id)?.agent.spec?.delegates ?? []),
    );
  }
  return delegates.filter(({ agent }) => found.has(agent.agentId));
}

function assertAllPriced(
  delegates: readonly ResolvedDelegate[],
  limits: Pick<Limits, "budgets">,
): void {
  for (const { agent, resolved } of delegates) {
    const { executor, fallbacks } = resolved;
    for (const [kind, { model }] of resolved.media) {
      const problem = mediaPriceProblem(kind, model, limits);
      if (problem === undefined) continue;
      const description = `agent "${agent.agentId}": ${problem}`;
      const violation = { field: "delegates", description, reason: "UNKNOWN_COST" };
      throw refusal(violation, ErrorReason.INVALID_AGENT);
    }
    for (const { model } of executor === undefined ? [] : [executor, ...fallbacks]) {
      const problem = priceProblem(agent.spec ?? {}, model, limits);
      if (problem === undefined) continue;
      const description = `agent "${agent.agentId}": ${problem}`;
      const violation = { field: "delegates", description, reason: "UNKNOWN_COST" };
      throw refusal(violation, ErrorReason.INVALID_AGENT);
    }
  }
}

const planningIgnored = "planning_enabled has no effect in runs of other agents";

/** How many warnings about one delegate are listed. */
const maxWarnings = 5;

/** Returns warnings about what has no effect while an agent is a delegate, and about its own spec. */
export function delegateWarnings(delegates: readonly ResolvedDelegate[]): readonly string[] {
  return delegates.flatMap(({ agent: { agentId, spec }, resolved: { warnings } }) => {
    const ignored = spec?.planningEnabled === true ? [planningIgnored] : [];
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

function refusal({ field, ...rest }: Violation, reason: ErrorReason): Failure {
  const message = `${field}: ${rest.description}`;
  return new Failure("precondition", reason, message, { violations: [{ field, ...rest }] });
}

const maxProblemBytes = 4_000;

/** Returns the refusal of an agent because one of its delegates is refused, whose name each violation has. */
function refusalOfDelegate(
  agentId: string,
  { kind, reason, message, violations, metadata }: Failure,
): Failure {
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
