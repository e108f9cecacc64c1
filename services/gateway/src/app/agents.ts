import { create, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { CheckedSpec } from "@reeve/agent/spec/check-spec";
import { checkSpec } from "@reeve/agent/spec/check-spec";
import { unsupportedCapability } from "@reeve/agent/spec/unsupported-fields";
import type { Agent, AgentSpec } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Page, PageRequest } from "@reeve/jetstream/table/page";
import { pageOf } from "@reeve/jetstream/table/page";
import type { GatewayPorts } from "./gateway-ports.ts";

type AgentPorts = Pick<GatewayPorts, "agents" | "offer">;

const { key: agentKey } = bucketOf(AgentSchema);

/** An agent that was stored, and what is suspicious about it. */
export interface StoredAgent {
  readonly agent: Agent;
  readonly warnings: readonly string[];
}

/** Stores a new agent, if it is valid and its id is free. */
export async function createAgent(
  { agents, offer }: AgentPorts,
  tenant: string,
  given: AgentSpec | undefined,
  signal: AbortSignal,
): Promise<StoredAgent> {
  const { spec, warnings } = validSpec(given, { offer });
  const now = timestampNow();
  const agent = create(AgentSchema, { spec, revision: 1, createdAt: now, updatedAt: now });
  const row = await agents.create(agentKey({ tenant, agent: spec.id }), agent, signal);
  if (row !== undefined) return { agent, warnings };
  throw new Failure(
    "exists",
    ErrorReason.AGENT_EXISTS,
    `agent ${spec.id} exists; update it instead`,
    { metadata: { agent_id: spec.id } },
  );
}

/** How often an update of whichever revision is there gives way to others. */
const maxAttempts = 20;

/** Replaces an agent, if it is valid and still at `revision` (0: whichever). */
export async function updateAgent(
  { agents, offer }: AgentPorts,
  tenant: string,
  given: AgentSpec | undefined,
  revision: number,
  signal: AbortSignal,
): Promise<StoredAgent> {
  const { spec, warnings } = validSpec(given, { offer });
  const key = agentKey({ tenant, agent: spec.id });
  for (let attempt = 1; ; attempt++) {
    const row = await agents.get(key, signal);
    if (row === undefined) throw agentNotFound(spec.id);
    const { record: before } = row;
    const isWanted = revision === 0 || revision === before.revision;
    if (!isWanted || attempt > maxAttempts) throw changed(spec.id, before.revision);
    const agent = create(AgentSchema, {
      spec,
      revision: before.revision + 1,
      updatedAt: timestampNow(),
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
  if (row === undefined) throw agentNotFound(agentId);
  return row.record;
}

export async function deleteAgent(
  { agents }: Pick<GatewayPorts, "agents">,
  tenant: string,
  agentId: string,
  signal: AbortSignal,
): Promise<void> {
  await getAgent({ agents }, tenant, agentId, signal);
  await agents.delete(agentKey({ tenant, agent: agentId }), signal);
}

/** A page of the agents of a tenant, by id. */
export async function listAgents(
  { agents }: Pick<GatewayPorts, "agents">,
  tenant: string,
  page: PageRequest,
  signal: AbortSignal,
): Promise<Page<Agent>> {
  const rows = await agents.list(tenant, signal);
  return pageOf(
    rows.map(({ record }) => record),
    page,
    ({ spec }) => spec?.id ?? "",
    (key, previous) => key > previous,
    (agent) => toBinary(AgentSchema, agent).length,
  );
}

/** What is wrong with a spec, with paths as the request has them. */
export function checkAgent(
  given: AgentSpec | undefined,
  { offer }: Pick<GatewayPorts, "offer">,
): CheckedSpec | undefined {
  return given === undefined ? undefined : checkSpec(given, offer());
}

function validSpec(
  given: AgentSpec | undefined,
  ports: Pick<GatewayPorts, "offer">,
): { readonly spec: AgentSpec; readonly warnings: readonly string[] } {
  const checked = checkAgent(given, ports);
  if (checked === undefined) {
    const violation = { field: "spec", description: "is required", reason: "REQUIRED" };
    throw new Failure("invalid", ErrorReason.INVALID_AGENT, "the request has no spec", {
      violations: [violation],
    });
  }
  const { spec, warnings } = checked;
  const violations = checked.violations.map((violation) => ({
    ...violation,
    field: `spec.${violation.field}`,
  }));
  if (violations.length === 0) return { spec, warnings };
  const list = violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  const message = `agent ${spec.id} is not valid: ${list}`;
  throw violations.every(({ reason }) => reason === unsupportedCapability)
    ? new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, message, { violations })
    : new Failure("invalid", ErrorReason.INVALID_AGENT, message, { violations });
}

function agentNotFound(agentId: string): Failure {
  return new Failure(
    "not_found",
    ErrorReason.AGENT_NOT_FOUND,
    `there is no agent ${agentId}; create it first`,
    { metadata: { agent_id: agentId } },
  );
}

function changed(agentId: string, revision: number): Failure {
  return new Failure(
    "conflict",
    ErrorReason.REVISION_CONFLICT,
    `agent ${agentId} was changed meanwhile and is at revision ${revision}; read it and decide again`,
    { metadata: { agent_id: agentId, revision: String(revision) } },
  );
}
