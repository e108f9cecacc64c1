import { A2A_VERSION_HEADER, AGENT_CARD_PATH, AgentCard } from "@a2a-js/sdk";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { Agent } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { isArtifactId } from "@reeve/jetstream/objects/artifact-draft";
import { steadyClock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import { HeldBytes } from "@reeve/platform/rpc/body/held-bytes";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import type { ApiSite } from "@reeve/platform/rpc/http/api-site";
import type { HttpRequest, HttpResponse } from "@reeve/platform/rpc/http/http-handler";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { RefusedError } from "../a2a-error.ts";
import { agentCardOf } from "../agent-card.ts";
import type { GatewayApi } from "../gateway-api.ts";
import { gatewayApi } from "../gateway-api.ts";
import type { PushPorts } from "../push/push-ports.ts";
import type { CardSigner } from "../sign-card.ts";
import { RequestHandler } from "../request-handler.ts";
import { jsonAnswer } from "./answers.ts";
import { answerJsonRpc } from "./json-rpc.ts";
import { legacyCardOf, legacyVersion } from "./legacy.ts";
import { readBody } from "./read-body.ts";
import { answerRest } from "./rest.ts";
import { sendFile } from "./send-file.ts";

/** Which agents a gateway offers: those whose spec says so, or all. */
type Exposure = "marked" | "all";

export interface A2aSiteOptions {
  readonly exposure: Exposure;
  /** The address under which clients reach the gateway. Undefined: the one of each request. */
  readonly publicUrl: string | undefined;
  /** Undefined: no push notifications are sent. */
  readonly pushes: PushPorts | undefined;
  /** Undefined: agent cards are not signed. */
  readonly signer: CardSigner | undefined;
  readonly log: Logger;
}

const addressPattern = /^\/a2a\/agents\/([a-z0-9][a-z0-9-]{0,62})(\/.*)?$/;
const legacyCardPath = `/v${legacyVersion}/${AGENT_CARD_PATH}`;
/** Where the public keys of agent cards are. */
const keysPath = "/.well-known/jwks.json";
const filesPrefix = "/files/";
/** How many bytes of unfinished requests are held. One network may hold half of them. */
const maxHeldBytes = 64 * 1024 * 1024;
const interval = { everyMs: 15_000, clock: steadyClock };

/**
 * Serves agents through the A2A protocol, each at `/a2a/agents/ID`: its card, the JSON-RPC and the HTTP+JSON binding, and the files of its
 * tasks. Every request needs the credential that the API needs, also the one for a card, because the credential says whose agent it is.
 */
export function a2aSite({ exposure, publicUrl, pushes, signer, log }: A2aSiteOptions): ApiSite {
  const held = new HeldBytes(maxHeldBytes);
  return (request, response, openApi) => {
    const [path = "", query = ""] = (request.url ?? "").split("?", 2);
    const [, agentId, rest = ""] = addressPattern.exec(path) ?? [];
    if (agentId === undefined) return false;
    const closed = new AbortController();
    response.once("close", () => closed.abort(new DOMException("the client left", "AbortError")));
    const origin = publicUrl?.replace(/\/$/, "") ?? originOf(request);
    const url = `${origin}/a2a/agents/${agentId}`;
    const api = gatewayApi(openApi());
    const target = { agentId, path: rest, query, origin, url };
    answer(request, response, { api, target, signal: closed.signal })
      .catch((error: unknown) => refusal(failureFrom(error), log))
      .then((given) => universalResponseToNodeResponse(given, response))
      .catch((error: unknown) => {
        log.debug({ err: error, path }, "an A2A client disconnected");
        response.destroy();
      });
    return true;
  };

  async function answer(
    request: HttpRequest,
    response: HttpResponse,
    { api, target, signal }: Exchange,
  ): Promise<UniversalServerResponse> {
    const { agentId, path, origin, url } = target;
    // Before the body is read: it also authenticates the caller.
    const agent = await exposedAgent(api, agentId, signal);
    const card = agentCardOf(agent, { url, pushNotifications: pushes !== undefined });
    const { method = "" } = request;
    const isRead = method === "GET";
    if (isRead && path === `/${AGENT_CARD_PATH}`) {
      const signed = await (signer?.sign(card, `${url}${keysPath}`) ?? card);
      return jsonAnswer(200, AgentCard.toJSON(signed));
    }
    if (isRead && path === keysPath && signer !== undefined) {
      return jsonAnswer(200, await signer.keys());
    }
    if (isRead && path.startsWith(filesPrefix)) {
      return await sendFile(api, agentId, path.slice(filesPrefix.length), signal);
    }
    const urlOf = (artifactId: string) => `${url}${filesPrefix}${artifactId}`;
    const handler = new RequestHandler({
      api,
      agentId,
      card,
      pushes,
      urlOf,
      fileIdIn: (address) => fileIdIn(address, origin),
      signal,
    });
    const version = request.headers[A2A_VERSION_HEADER.toLowerCase()];
    const binding = {
      version: typeof version === "string" && version !== "" ? version : undefined,
      interval,
      signal,
    };
    if (isRead && path === legacyCardPath)
      return jsonAnswer(200, await legacyCardOf(handler, card));
    const body = isRead ? "" : await readBody(request, response, held);
    if (path === "" || path === "/") {
      if (method !== "POST") throw unknownAddress(method, `${url}${path}`);
      return await answerJsonRpc(handler, body, binding);
    }
    const answered = await answerRest(handler, {
      ...binding,
      method,
      path,
      query: target.query,
      body,
    });
    if (answered === undefined) throw unknownAddress(method, `${url}${path}`);
    return answered;
  }

  /** Throws a Failure if the caller may not read the agent, or the agent is not offered: that is the same as none. */
  async function exposedAgent(
    api: GatewayApi,
    agentId: string,
    signal: AbortSignal,
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
}

interface Exchange {
  readonly api: GatewayApi;
  readonly target: {
    readonly agentId: string;
    /** The path after that of the agent. */
    readonly path: string;
    readonly query: string;
    /** The address of the gateway. */
    readonly origin: string;
    /** The address of the agent. */
    readonly url: string;
  };
  readonly signal: AbortSignal;
}

/** Returns the artifact that an address of the gateway names, of any agent. Whether the caller may read it is checked with the message. */
function fileIdIn(address: string, origin: string): string | undefined {
  if (!address.startsWith(`${origin}/`)) return undefined;
  const [, , path = ""] = addressPattern.exec(address.slice(origin.length)) ?? [];
  const id = path.startsWith(filesPrefix) ? path.slice(filesPrefix.length) : "";
  return isArtifactId(id) ? id : undefined;
}

function originOf({ headers, socket }: HttpRequest): string {
  const scheme = "encrypted" in socket ? "https" : "http";
  const authority = headers[":authority"] ?? headers.host;
  return `${scheme}://${typeof authority === "string" ? authority : "localhost"}`;
}

/** Returns the answer to a request that reaches no operation of an agent. Its body is an error of JSON-RPC. */
function refusal(failure: Failure, log: Logger): UniversalServerResponse {
  const error = new RefusedError(failure);
  if (error.status === 500) {
    log.error({ err: failure }, "an A2A request failed");
    error.errorResponse.error.message = "internal error";
  }
  return jsonAnswer(error.status, error.errorResponse, error.headers);
}

function unknownAddress(method: string, address: string): Failure {
  const message = `${method.slice(0, 20)} ${address.slice(0, 200)} not found; the card of the agent names its addresses`;
  return new Failure("unsupported", ErrorReason.INVALID_REQUEST, message);
}
