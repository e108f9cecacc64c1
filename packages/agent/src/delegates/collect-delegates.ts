import { equals, toBinary } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema, ApprovalPolicySchema } from "@reeve/contracts/agent";
import type { DelegateAgent } from "@reeve/contracts/run";
import type { Violation } from "@reeve/platform/failure";

/** How many agents one run can reach. */
const maxReachable = 32;
/** The start of a run has the specs of all its agents, and must fit into a message of the bus: as many bytes as one spec may have. */
const maxSpecBytes = 512 * 1024;

/** The agents that an agent can reach through its delegates and theirs. */
export interface CollectedDelegates {
  /** Ordered by id. Complete only if there are no violations. */
  readonly agents: readonly DelegateAgent[];
  readonly violations: readonly Violation[];
}

/**
 * Finds the delegates of an agent, and theirs. A delegate that does not exist, an agent that could call itself, and more agents than a
 * run can reach are violations of the field `delegates`.
 */
export async function collectDelegates(
  root: AgentSpec,
  find: (agentId: string) => Promise<DelegateAgent | undefined>,
): Promise<CollectedDelegates> {
  const found = new Map<string, DelegateAgent>();
  const pending = root.delegates.map((id, index) => ({ id, field: `delegates[${index}]`, by: "" }));
  const queued = new Set([root.id, ...root.delegates]);
  for (const { id, field, by } of pending) {
    if (id === root.id || found.has(id)) continue;
    const agent = await find(id);
    if (agent?.spec === undefined) return { agents: [], violations: [unknown(field, id, by)] };
    if (found.size === maxReachable) return { agents: [], violations: [tooMany(field)] };
    found.set(id, agent);
    for (const each of agent.spec.delegates) {
      if (queued.has(each)) continue;
      queued.add(each);
      pending.push({ id: each, field, by: id });
    }
  }
  const agents = [...found.values()].toSorted((a, b) => (a.agentId < b.agentId ? -1 : 1));
  return { agents, violations: delegateProblems(root, agents) };
}

/** Returns why an agent cannot have its delegates, given all that it can reach. Empty: it can. */
export function delegateProblems(
  root: AgentSpec,
  agents: readonly DelegateAgent[],
): readonly Violation[] {
  const direct = directProblems(root, agents);
  if (direct.length > 0) return direct;
  if (agents.length > maxReachable) return [tooMany("delegates")];
  const specs = agents.flatMap(({ spec }) => spec ?? []);
  const known = new Set([root.id, ...specs.map(({ id }) => id)]);
  const below = specs.flatMap(({ id, delegates }) =>
    delegates.filter((each) => !known.has(each)).map((each) => unknown("delegates", each, id)),
  );
  const policies = specs.flatMap((spec) => policyProblem(root, spec) ?? []);
  return [...below, ...policies, ...sizeProblems([root, ...specs])];
}

/** One policy decides on all approvals of a run. */
function policyProblem(
  { approvalPolicy: ofRoot }: AgentSpec,
  { id, approvalPolicy }: AgentSpec,
): Violation | undefined {
  if (approvalPolicy === undefined) return undefined;
  if (ofRoot !== undefined && equals(ApprovalPolicySchema, ofRoot, approvalPolicy))
    return undefined;
  const description = `agent "${id}" has another approval_policy than the agent of the run, which decides on all approvals of the run; give both the same, or remove that of "${id}"`;
  return { field: "delegates", description, reason: "UNSUPPORTED_CAPABILITY" };
}

function sizeProblems(specs: readonly AgentSpec[]): readonly Violation[] {
  if (specs.length === 1) return [];
  const bytes = specs.reduce((sum, spec) => sum + toBinary(AgentSpecSchema, spec).length, 0);
  if (bytes <= maxSpecBytes) return [];
  const description = `the specs of the agent and of all agents that it can reach have ${bytes} bytes; the limit is ${maxSpecBytes}`;
  return [{ field: "delegates", description, reason: "TOO_LARGE" }];
}

/** Returns the problems of single delegates of the root: those that do not exist, and cycles through them. */
function directProblems(root: AgentSpec, agents: readonly DelegateAgent[]): readonly Violation[] {
  const specs = new Map(agents.map(({ agentId, spec }) => [agentId, spec]));
  const delegatesOf = (id: string) =>
    id === root.id ? root.delegates : (specs.get(id)?.delegates ?? []);
  const done = new Set<string>();
  return root.delegates.flatMap((id, index): readonly Violation[] => {
    const field = `delegates[${index}]`;
    if (id !== root.id && specs.get(id) === undefined) return [unknown(field, id, "")];
    const cycle = cycleFrom(id, [root.id], { delegatesOf, done });
    if (cycle === undefined) return [];
    const description = `the agents would call each other without end: ${cycle.join(" → ")}; remove one of these delegates`;
    return [{ field, description, reason: "DELEGATE_CYCLE" }];
  });
}

interface Graph {
  readonly delegatesOf: (id: string) => readonly string[];
  /** Agents from which no cycle can be reached. */
  readonly done: Set<string>;
}

/** Returns the first cycle that a chain of calls can close. */
function cycleFrom(
  id: string,
  path: readonly string[],
  graph: Graph,
): readonly string[] | undefined {
  const start = path.indexOf(id);
  if (start >= 0) return [...path.slice(start), id];
  if (graph.done.has(id)) return undefined;
  for (const next of graph.delegatesOf(id)) {
    const cycle = cycleFrom(next, [...path, id], graph);
    if (cycle !== undefined) return cycle;
  }
  graph.done.add(id);
  return undefined;
}

function unknown(field: string, id: string, by: string): Violation {
  const whose = by === "" ? "" : `, which is a delegate of agent "${by}",`;
  const description = `agent "${id}"${whose} does not exist; create it first, or remove it`;
  return { field, description, reason: "AGENT_NOT_FOUND" };
}

function tooMany(field: string): Violation {
  const description = `more than ${maxReachable} agents can be reached through delegates; use fewer`;
  return { field, description, reason: "TOO_MANY_ENTRIES" };
}
