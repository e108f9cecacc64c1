import { create, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { policyForTenant } from "@reeve/agent/policy/caller-policy";
import { otherDelegateViolations } from "@reeve/agent/delegates/check-delegates";
import { checkSpec } from "@reeve/agent/spec/check-spec";
import { workflowDelegateProblems } from "@reeve/agent/workflow/check/workflow-problems";
import { closestName } from "@reeve/agent/text/closest-name";
import type { CheckedRequest } from "@reeve/agent/spec/valid-spec";
import { validSpec } from "@reeve/agent/spec/valid-spec";
import type { Agent, AgentSpec, ListAgentsRequest } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import type { DelegateAgent } from "@reeve/contracts/run";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import type { Principal } from "@reeve/platform/rpc/principal";
import { assertChecked, ignorableRules } from "@reeve/run/policy/runtime-checks";
import { mergeViolations } from "@reeve/platform/strict/merge-violations";
import type { Page, PageRequest } from "@reeve/jetstream/table/page";
import { pageOf } from "@reeve/jetstream/table/page";
import { delegatesOf } from "./delegates.ts";
import type { GatewayPorts } from "./gateway-ports.ts";

type AgentPorts = Pick<GatewayPorts, "agents" | "offer" | "policy" | "assertRoom" | "holders">;

const { key: agentKey } = bucketOf(AgentSchema);

/** A stored agent, with the warnings about its spec. */
export interface StoredAgent {
  readonly agent: Agent;
  readonly warnings: readonly string[];
}

/** A spec as a request brought it. */
export interface SentSpec {
  readonly spec: AgentSpec | undefined;
  /** What the request had in the place of the spec that the contract does not allow, with paths relative to the request. */
  readonly shape: readonly Violation[];
  /** Specs that are to be stored before it, in which delegates are looked up first. Default: none. */
  readonly others?: readonly AgentSpec[];
  /** The set of agents that a new agent belongs to. Default: none. */
  readonly managedBy?: string;
}

/** What a caller has seen of an agent that it changes. */
interface SeenAgent {
  /** Default: 0, which matches any revision. */
  readonly revision?: number;
  /** The set of the agent; empty if it belongs to none. An agent that was created again has revision 1 again. Default: any set. */
  readonly managedBy?: string | undefined;
}

/** Stores a new agent of an author. Throws a Failure if its spec is invalid or its id is taken. */
export async function createAgent(
  { agents, offer, policy, assertRoom, holders }: AgentPorts,
  { tenant, subject: createdBy }: Principal,
  sent: SentSpec,
  signal: AbortSignal,
): Promise<StoredAgent> {
  assertRoom();
  const ports = { agents, offer, policy };
  const { spec, warnings } = validSpec((await checkAgent(ports, tenant, sent, signal)).checked);
  await assertChecked(holders, ignorableRules(spec), signal);
  const now = timestampNow();
  const times = { createdAt: now, updatedAt: now };
  const { managedBy = "" } = sent;
  const agent = create(AgentSchema, { spec, revision: 1, ...times, createdBy, managedBy });
  const row = await agents.create(agentKey({ tenant, agent: spec.id }), agent, signal);
  if (row !== undefined) return { agent, warnings };
  throw new Failure(
    "exists",
    ErrorReason.AGENT_EXISTS,
    `agent ${spec.id} already exists; update it instead`,
    { metadata: { agent_id: spec.id } },
  );
}

/** How many agents of a tenant are read to suggest another id. */
const maxSuggested = 200;
/** The maximum number of attempts of an update without a revision, each after a concurrent update won. */
const maxAttempts = 20;

/** Replaces an agent. Throws a Failure if its spec is invalid, or it is not the agent that the caller has seen. */
export async function updateAgent(
  { agents, offer, policy, assertRoom, holders }: AgentPorts,
  { tenant, subject: createdBy }: Principal,
  sent: SentSpec,
  seen: SeenAgent,
  signal: AbortSignal,
): Promise<StoredAgent> {
  assertRoom();
  const ports = { agents, offer, policy };
  const { spec, warnings } = validSpec((await checkAgent(ports, tenant, sent, signal)).checked);
  await assertChecked(holders, ignorableRules(spec), signal);
  const key = agentKey({ tenant, agent: spec.id });
  for (let attempt = 1; ; attempt++) {
    const row = await agents.get(key, signal);
    if (row === undefined) throw agentNotFound(spec.id);
    const { record: before } = row;
    assertSeen(before, spec.id, seen);
    if (attempt > maxAttempts) throw revisionConflict(spec.id, before.revision);
    const agent = create(AgentSchema, {
      spec,
      revision: before.revision + 1,
      updatedAt: timestampNow(),
      createdBy,
      managedBy: before.managedBy,
      ...(before.createdAt && { createdAt: before.createdAt }),
    });
    const written = await agents.update(key, agent, row.revision, signal);
    if (written !== undefined) return { agent, warnings };
  }
}

export async function getAgent(
  { agents }: Pick<GatewayPorts, "agents">,
  tenant: string,
  agentId: string,
  signal: AbortSignal,
): Promise<Agent> {
  const row = await agents.get(agentKey({ tenant, agent: agentId }), signal);
  if (row === undefined) throw agentNotFound(agentId, await someIds({ agents }, tenant, signal));
  return row.record;
}

/** Deletes an agent. Throws a Failure if it does not exist, or is not the agent that the caller has seen. */
export async function deleteAgent(
  { agents }: Pick<GatewayPorts, "agents">,
  tenant: string,
  { agentId, ...seen }: SeenAgent & { readonly agentId: string },
  signal: AbortSignal,
): Promise<void> {
  const key = agentKey({ tenant, agent: agentId });
  const row = await agents.get(key, signal);
  if (row === undefined) throw agentNotFound(agentId, await someIds({ agents }, tenant, signal));
  assertSeen(row.record, agentId, seen);
  const { revision = 0, managedBy } = seen;
  if (revision === 0 && managedBy === undefined) return await agents.delete(key, signal);
  const isDeleted = await agents.deleteVersion(key, row.revision, signal);
  if (!isDeleted) throw changedConcurrently(agentId);
}

/** Throws a Failure if an agent has another revision or another set than its caller has seen. */
function assertSeen(agent: Agent, agentId: string, { revision = 0, managedBy }: SeenAgent): void {
  if (revision !== 0 && revision !== agent.revision) {
    throw revisionConflict(agentId, agent.revision);
  }
  if (managedBy === undefined || managedBy === agent.managedBy) return;
  const owner = agent.managedBy === "" ? "no set" : `the set "${agent.managedBy}"`;
  const expected = managedBy === "" ? "no set" : `the set "${managedBy}"`;
  throw new Failure(
    "conflict",
    ErrorReason.REVISION_CONFLICT,
    `agent ${agentId} belongs to ${owner}, not to ${expected}: it was deleted and created again; read it and retry`,
    { metadata: { agent_id: agentId, revision: String(agent.revision) } },
  );
}

/** Returns a page of a tenant's agents, ordered by id: all, or only those with or without a workflow. */
export async function listAgents(
  { agents }: Pick<GatewayPorts, "agents">,
  tenant: string,
  { hasWorkflow, ...page }: PageRequest & Pick<Partial<ListAgentsRequest>, "hasWorkflow">,
  signal: AbortSignal,
): Promise<Page<Agent>> {
  const rows = await agents.list(tenant, signal);
  const isListed = ({ spec }: Agent) =>
    hasWorkflow === undefined || hasWorkflow === (spec?.workflow !== undefined);
  return pageOf(
    rows.map(({ record }) => record).filter(isListed),
    page,
    ({ spec }) => spec?.id ?? "",
    (key, previous) => key > previous,
    (agent) => toBinary(AgentSchema, agent).length,
  );
}

/** A checked spec, and the agents that it can reach through its delegates. */
interface CheckedAgent {
  readonly checked: CheckedRequest;
  readonly delegates: readonly DelegateAgent[];
}

/**
 * Checks a spec against the shape of its contract, against what the deployment offers, against what the operator's policy allows the
 * tenant, and against the agents of the tenant that it names. Paths of violations are relative to the request. The spec is undefined if
 * the request has none.
 */
export async function checkAgent(
  { offer, policy, agents }: Pick<GatewayPorts, "offer" | "policy" | "agents">,
  tenant: string,
  { spec: given, shape, others: stagedSpecs = [] }: SentSpec,
  signal: AbortSignal,
): Promise<CheckedAgent> {
  if (given === undefined) {
    const missing = { field: "spec", description: "is required", reason: "REQUIRED" };
    const violations = mergeViolations(shape, [missing]);
    return { checked: { violations, warnings: [], details: [] }, delegates: [] };
  }
  const { spec, violations, ...warnings } = checkSpec(
    given,
    offer(),
    policyForTenant(policy(), tenant),
  );
  const ofOthers = otherDelegateViolations(stagedSpecs);
  // Too many of them, or malformed ids, are not looked up.
  const isMalformed =
    ofOthers.length > 0 || violations.some(({ field }) => field.startsWith("delegates"));
  const { agents: delegates, violations: ofDelegates } = isMalformed
    ? { agents: [], violations: [] }
    : await delegatesOf({ agents }, tenant, { spec, others: stagedSpecs }, signal);
  const ofNodes = workflowDelegateProblems(spec, delegates);
  const others = [...violations, ...ofDelegates, ...ofNodes].map((violation) => ({
    ...violation,
    field: `spec.${violation.field}`,
  }));
  const all = [...others, ...ofOthers];
  const checked = { spec, violations: mergeViolations(shape, all), ...warnings };
  return { checked, delegates };
}

/** Returns the ids of some agents of a tenant: a request for an unknown agent must not read a large tenant. */
async function someIds(
  { agents }: Pick<GatewayPorts, "agents">,
  tenant: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const ids: string[] = [];
  let changes = 0;
  for await (const change of agents.watch(tenant, signal)) {
    if (change.kind === "current") break;
    if (change.kind === "written") ids.push(change.row.record.spec?.id ?? "");
    changes += 1;
    if (changes === maxSuggested) break;
  }
  return ids;
}

/** Returns the refusal of an agent that does not exist. */
export function agentNotFound(agentId: string, known: readonly string[] = []): Failure {
  const closest = closestName(agentId, known);
  const remedy = closest === undefined ? "create it first" : `did you mean ${closest}?`;
  return new Failure(
    "not_found",
    ErrorReason.AGENT_NOT_FOUND,
    `agent ${agentId} not found; ${remedy}`,
    { metadata: { agent_id: agentId } },
  );
}

function revisionConflict(agentId: string, revision: number): Failure {
  return new Failure(
    "conflict",
    ErrorReason.REVISION_CONFLICT,
    `agent ${agentId} was changed concurrently and is now at revision ${revision}; read it and retry`,
    { metadata: { agent_id: agentId, revision: String(revision) } },
  );
}

function changedConcurrently(agentId: string): Failure {
  return new Failure(
    "conflict",
    ErrorReason.REVISION_CONFLICT,
    `agent ${agentId} was changed concurrently; read it and retry`,
    { metadata: { agent_id: agentId } },
  );
}
