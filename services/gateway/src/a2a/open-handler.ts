import type { AgentCard } from "@a2a-js/sdk";
import type { Agent } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { isArtifactId } from "@reeve/jetstream/objects/artifact-draft";
import { Failure } from "@reeve/platform/failure";
import { agentCardOf } from "./agent-card.ts";
import type { GatewayApi } from "./gateway-api.ts";
import type { PushPorts } from "./push/push-ports.ts";
import { RequestHandler } from "./request-handler.ts";

/** Which agents a gateway offers: those whose spec says so, or all. */
type Exposure = "marked" | "all";

/** How a gateway offers its agents. */
export interface Offer {
  readonly exposure: Exposure;
  /** Where clients reach the gateway over gRPC, as `host:port`. Undefined: cards do not say. */
  grpcAddressAt(origin: string): string | undefined;
  /** Undefined: no push notifications are sent. */
  readonly pushes: PushPorts | undefined;
}

/** An agent of a request, and how the gateway is called for it. */
export interface AgentRequest {
  readonly api: GatewayApi;
  readonly agentId: string;
  /** The address of the gateway for the client. */
  readonly origin: string;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
}

/** An agent that is offered to the caller of a request. */
export interface OfferedAgent {
  readonly handler: RequestHandler;
  readonly card: AgentCard;
  /** The address of the agent. */
  readonly url: string;
}

/** The id of an agent, as its address and the tenant of its gRPC requests have it. */
export const agentIdPattern = "[a-z0-9][a-z0-9-]{0,62}";
export const filesPrefix = "/files/";
const filePattern = new RegExp(`^/a2a/agents/${agentIdPattern}${filesPrefix}(.+)$`);

/** Opens an agent for its caller. Throws a Failure if the caller may not read the agent, or the agent is not offered: that is the same as none. */
export async function openHandler(offer: Offer, request: AgentRequest): Promise<OfferedAgent> {
  const { api, agentId, origin, signal } = request;
  const url = `${origin}/a2a/agents/${agentId}`;
  const agent = await offeredAgent(offer, request);
  const { pushes } = offer;
  const grpcAddress = offer.grpcAddressAt(origin);
  const card = agentCardOf(agent, { url, grpcAddress, pushNotifications: pushes !== undefined });
  const handler = new RequestHandler({
    api,
    agentId,
    card,
    pushes,
    urlOf: (artifactId) => `${url}${filesPrefix}${artifactId}`,
    fileIdIn: (address) => fileIdIn(address, origin),
    signal,
  });
  return { handler, card, url };
}

async function offeredAgent(
  { exposure }: Offer,
  { api, agentId, signal }: AgentRequest,
): Promise<Agent> {
  const { agent } = await api.agents.getAgent({ agentId }, { signal });
  if (agent !== undefined && (exposure === "all" || agent.spec?.a2a?.enabled === true))
    return agent;
  throw new Failure(
    "not_found",
    ErrorReason.AGENT_NOT_FOUND,
    `agent ${agentId} is not offered through A2A; set a2a.enabled in its spec`,
    { metadata: { agent_id: agentId } },
  );
}

/** Returns the artifact that an address of the gateway names, of any agent. Whether the caller may read it is checked with the message. */
function fileIdIn(address: string, origin: string): string | undefined {
  if (!address.startsWith(`${origin}/`)) return undefined;
  const [, id = ""] = filePattern.exec(address.slice(origin.length)) ?? [];
  return isArtifactId(id) ? id : undefined;
}
