import { create } from "@bufbuild/protobuf";
import type { CollectedDelegates } from "@reeve/agent/delegates/collect-delegates";
import { collectDelegates } from "@reeve/agent/delegates/collect-delegates";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { DelegateAgent } from "@reeve/contracts/run";
import { DelegateAgentSchema } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import type { GatewayPorts } from "./gateway-ports.ts";

const { key: agentKey } = bucketOf(AgentSchema);

/** A spec, and specs that are to be stored before it. */
interface StagedSpec {
  readonly spec: AgentSpec;
  /** Default: none. */
  readonly others?: readonly AgentSpec[];
}

/**
 * Finds the agents of a tenant that an agent can reach through its delegates, each at the revision of now. One of `others` counts
 * instead of the stored agent with its id, and has the revision 0.
 */
export async function delegatesOf(
  { agents }: Pick<GatewayPorts, "agents">,
  tenant: string,
  { spec, others = [] }: StagedSpec,
  signal: AbortSignal,
): Promise<CollectedDelegates> {
  if (spec.delegates.length === 0) return { agents: [], violations: [] };
  const staged = new Map(others.map((other) => [other.id, other]));
  return await collectDelegates(spec, async (agentId) => {
    const next = staged.get(agentId);
    if (next !== undefined) return create(DelegateAgentSchema, { agentId, spec: next });
    const row = await agents.get(agentKey({ tenant, agent: agentId }), signal);
    if (row === undefined) return undefined;
    const { spec: found, revision, createdBy: author } = row.record;
    return create(DelegateAgentSchema, {
      agentId,
      revision,
      author,
      ...(found && { spec: found }),
    });
  });
}

/** Returns the delegates of an agent whose run starts. Throws a Failure that names one that does not exist, or could not be called. */
export async function delegatesToStart(
  ports: Pick<GatewayPorts, "agents">,
  tenant: string,
  spec: AgentSpec | undefined,
  signal: AbortSignal,
): Promise<readonly DelegateAgent[]> {
  if (spec === undefined) return [];
  const { agents, violations } = await delegatesOf(ports, tenant, { spec }, signal);
  const [first] = violations;
  if (first === undefined) return agents;
  const isUnknown = first.reason === "AGENT_NOT_FOUND";
  const reason = isUnknown ? ErrorReason.AGENT_NOT_FOUND : ErrorReason.INVALID_AGENT;
  const message = `${first.field} of agent ${spec.id}: ${first.description}`;
  throw new Failure("precondition", reason, message, { violations });
}
