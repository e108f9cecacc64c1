import { A2A_VERSION_HEADER, AGENT_CARD_PATH, AgentCard } from "@a2a-js/sdk";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { ErrorReason } from "@reeve/contracts/error";
import { steadyClock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import { HeldBytes } from "@reeve/platform/rpc/body/held-bytes";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import type { ApiSite } from "@reeve/platform/rpc/http/api-site";
import type { HttpRequest, HttpResponse } from "@reeve/platform/rpc/http/http-handler";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { RefusedError } from "../a2a-error.ts";
import type { GatewayApi } from "../gateway-api.ts";
import { gatewayApi } from "../gateway-api.ts";
import type { GrpcCalls } from "../grpc/grpc-calls.ts";
import type { Offer } from "../open-handler.ts";
import { agentIdPattern, filesPrefix, openHandler } from "../open-handler.ts";
import { grpcAddressOf, requestOrigin } from "../request-origin.ts";
import type { CardSigner } from "../sign-card.ts";
import { jsonAnswer } from "./answers.ts";
import { answerJsonRpc } from "./json-rpc.ts";
import { legacyCardOf, legacyVersion } from "./legacy.ts";
import { readBody } from "./read-body.ts";
import { answerRest } from "./rest.ts";
import { sendFile } from "./send-file.ts";

export interface A2aSiteOptions extends Pick<Offer, "exposure" | "pushes"> {
  /** The address under which clients reach the gateway. Undefined: the one of each request. */
  readonly publicUrl: string | undefined;
  /** The address that cards name for gRPC, see `grpcAddressOf`. */
  readonly grpcAddress: string | undefined;
  /** Undefined: agent cards are not signed. */
  readonly signer: CardSigner | undefined;
  readonly log: Logger;
}

const addressPattern = new RegExp(`^/a2a/agents/(${agentIdPattern})(/.*)?$`);
/** The paths of the gRPC binding. */
const grpcPrefix = "/lf.a2a.v1.A2AService/";
const legacyCardPath = `/v${legacyVersion}/${AGENT_CARD_PATH}`;
/** Where the public keys of agent cards are. */
const keysPath = "/.well-known/jwks.json";
/** How many bytes of unfinished requests of all bindings are held. One network, or one tenant over gRPC, may hold half of them. */
const maxHeldBytes = 64 * 1024 * 1024;
const interval = { everyMs: 15_000, clock: steadyClock };

/**
 * Serves agents through the A2A protocol, each at `/a2a/agents/ID`: its card, the JSON-RPC and the HTTP+JSON binding, and the files of its
 * tasks; and all of them over gRPC. Every request needs the credential that the API needs, also the one for a card, because the credential says whose agent it is.
 */
export function a2aSite(options: A2aSiteOptions): ApiSite {
  const { publicUrl, signer, log } = options;
  const held = new HeldBytes(maxHeldBytes);
  const offer: Offer = { ...options, grpcAddressAt: (origin) => grpcAddressOf(options, origin) };
  let grpc: Promise<GrpcCalls> | undefined;
  return (request, response, openApi) => {
    const [path = "", query = ""] = (request.url ?? "").split("?", 2);
    const origin = requestOrigin(request, publicUrl);
    if (path.startsWith(grpcPrefix)) {
      const caller = { api: gatewayApi(openApi()), origin };
      // Most gateways are never called over gRPC.
      grpc ??= import("../grpc/grpc-calls.ts").then(({ grpcCalls }) => grpcCalls(offer, held, log));
      grpc
        .then((answerCall) => answerCall(request, response, caller))
        .catch((error: unknown) => {
          log.error({ err: error, path }, "an A2A request failed");
          response.destroy();
        });
      return true;
    }
    const [, agentId, rest = ""] = addressPattern.exec(path) ?? [];
    if (agentId === undefined) return false;
    const closed = new AbortController();
    response.once("close", () => closed.abort(new DOMException("the client left", "AbortError")));
    const api = gatewayApi(openApi());
    const target = { agentId, path: rest, query, origin };
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
    const { agentId, path, origin } = target;
    // Before the body is read: it also authenticates the caller.
    const asked = { api, agentId, origin, signal };
    const { handler, card, url } = await openHandler(offer, asked);
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
  };
  readonly signal: AbortSignal;
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
