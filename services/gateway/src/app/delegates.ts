import { create, toBinary } from "@bufbuild/protobuf";
import type { CollectedDelegates } from "@reeve/agent/delegates/collect-delegates";
import { collectDelegates } from "@reeve/agent/delegates/collect-delegates";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSchema, AgentSpecSchema } from "@reeve/contracts/agent";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { DelegateAgent } from "@reeve/contracts/run";
import { DelegateAgentSchema } from "@reeve/contracts/run";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import type { GatewayPorts } from "./gateway-ports.ts";

const { key: agentKey } = bucketOf(AgentSchema);

/** The start of a run has the specs of all its agents, and must fit into a message of the bus: as many bytes as one spec may have. */
const maxSpecBytes = 512 * 1024;

/** Finds the agents of a tenant that an agent can reach through its delegates, each at the revision of now. */
export async function delegatesOf(
  { agents }: Pick<GatewayPorts, "agents">,
  tenant: string,
  spec: AgentSpec,
  signal: AbortSignal,
): Promise<CollectedDelegates> {
  if (spec.delegates.length === 0) return { agents: [], violations: [] };
  const collected = await collectDelegates(spec, async (agentId) => {
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
  const problem = collected.violations.length > 0 ? undefined : sizeProblem(spec, collected.agents);
  return problem === undefined ? collected : { agents: [], violations: [problem] };
}

/** Returns the delegates of an agent whose run starts. Throws a Failure that names one that does not exist, or could not be called. */
export async function delegatesToStart(
  ports: Pick<GatewayPorts, "agents">,
  tenant: string,
  spec: AgentSpec | undefined,
  signal: AbortSignal,
): Promise<readonly DelegateAgent[]> {
  if (spec === undefined) return [];
  const { agents, violations } = await delegatesOf(ports, tenant, spec, signal);
  const [first] = violations;
  if (first === undefined) return agents;
  const isUnknown = first.reason === "AGENT_NOT_FOUND";
  const reason = isUnknown ? ErrorReason.AGENT_NOT_FOUND : ErrorReason.INVALID_AGENT;
  const message = `${first.field} of agent ${spec.id}: ${first.description}`;
  throw new Failure("precondition", reason, message, { violations });
}

function sizeProblem(root: AgentSpec, agents: readonly DelegateAgent[]): Violation | undefined {
  const specs = [root, ...agents.flatMap(({ spec }) => spec ?? [])];
  const bytes = specs.reduce((sum, spec) => sum + toBinary(AgentSpecSchema, spec).length, 0);
  if (bytes <= maxSpecBytes) return undefined;
  const description = `the specs of the agent and of all agents that it can reach have ${bytes} bytes; the limit is ${maxSpecBytes}`;
  return { field: "delegates", description, reason: "TOO_LARGE" };
}
