import { constants } from "node:http2";
import type { JsonObject } from "@bufbuild/protobuf";
import type { ConnectRouter, ConnectRouterOptions, HandlerContext } from "@connectrpc/connect";
import { Code, ConnectError, createConnectRouter, createContextValues } from "@connectrpc/connect";
import type {
  Compression,
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { compressionGzip, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { Logger } from "../telemetry/logger.ts";
import { readingStrictly } from "../strict/strict-json.ts";
import type { HeldBytes } from "./body/held-bytes.ts";
import { requestBody } from "./body/request-body.ts";
import { connectErrorOf } from "./connect-failure.ts";
import { fitsAnswerTo } from "./error-size.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "./http/http-handler.ts";
import { explained, refuseVerb } from "./explain-refusal.ts";
import { Failure } from "../failure.ts";
import { setClientAddress } from "./http/client-address.ts";
import type { ApiSite } from "./http/api-site.ts";
import { answerCors } from "./http/cors.ts";
import { messageBody } from "./plain/message-body.ts";
import type { PlainMatch, PlainRequest, PlainRoute } from "./plain/plain-route.ts";
import { matchPlainRoute, verbsOf } from "./plain/plain-route.ts";
import { plainStream } from "./plain/plain-stream.ts";
import { ownCalls } from "./own-calls.ts";
import type { Authenticate } from "./principal.ts";
import { isOpenService, ownerOf } from "./principal.ts";
import { setPeerOf } from "./credentials/client-certificates.ts";
import { peerCertificateOf } from "../tls/peer-certificate.ts";
import type { ServerLimits } from "./server-limits.ts";

/** The kinds of methods whose request is a stream of messages. */
const requestStreamKinds: ReadonlySet<string> = new Set(["client_streaming", "bidi_streaming"]);
/** The size of a message in a URL after decompression. URLs have a few KiB. */
const maxQueryBytes = 64 * 1024;

export interface RpcHandlerOptions extends ConnectRouterOptions {
  readonly authenticate: Authenticate | undefined;
  readonly limits: ServerLimits;
  readonly held: HeldBytes;
  /** Further addresses of the methods, for clients without a library. Default: none. */
  readonly plainRoutes?: readonly PlainRoute[] | undefined;
  /** Answers requests of another protocol, which are for no method of the API. Default: there is none. */
  readonly apiSite?: ApiSite | undefined;
}

/**
 * Returns a handler that serves `routes`, and passes all other requests to `fallback`. Refuses a message beyond the limits
 * with reason TOO_LARGE. A client that disconnects is logged at level debug only.
 */
export function rpcHandler(
  routes: (router: ConnectRouter) => void,
  { authenticate, limits, held, plainRoutes = [], apiSite, ...options }: RpcHandlerOptions,
  fallback: HttpHandler,
  log: Logger,
): HttpHandler {
  const router = createConnectRouter({
    ...options,
    acceptCompression: [gzip],
    readMaxBytes: limits.maxMessageBytes,
    requestGate: (context) => gate(authenticate, context),
  });
  routes(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    const plain = matchPlainRoute(plainRoutes, plainRequestOf(request));
    const [path = ""] = (plain?.path ?? request.url ?? "").split("?", 1);
    const handler = handlers.get(path);
    if (handler === undefined) {
      if (apiSite?.(request, response, () => ownCalls(handlers, request)) === true) return;
      const verbs = verbsOf(plainRoutes, path);
      return verbs.length === 0
        ? fallback(request, response)
        : refuseVerb(request, response, verbs);
    }
    // Only for what needs a credential: the rest is for the operator, not for web pages.
    if (!isOpenService(handler.service) && answerCors(request, response)) return;
    const exchange = { request, response, limits, held, message: plain?.message };
    const universal = universalRequest(handler, exchange);
    readingStrictly(handler.method, () => handler(universal))
      .then((answer) => explained(answer, request, handler))
      .then((answer) => plainAnswer(answer, request, plain))
      .then((answer) => universalResponseToNodeResponse(answer, response))
      .catch((error: unknown) => {
        const { code } = ConnectError.from(error);
        const isOurs = code === Code.Unknown || code === Code.Internal;
        if (isOurs && !universal.signal.aborted) {
          log.error({ err: error, path }, "an answer could not be sent");
        } else log.debug({ code, path }, "client disconnected");
        // Otherwise a client that is still there waits for the rest of the answer.
        if ("stream" in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
        else response.destroy();
      });
  };
}

/** Decompresses only messages in URLs: `requestBody` decompresses the others. */
const gzip: Compression = {
  ...compressionGzip,
  decompress: (bytes, max) => compressionGzip.decompress(bytes, Math.min(max, maxQueryBytes)),
};

async function gate(
  authenticate: Authenticate | undefined,
  context: HandlerContext,
): Promise<void> {
  try {
    await authenticate?.(context);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw connectErrorOf(error, fitsAnswerTo(context.requestHeader));
  }
}

function plainRequestOf({ method = "", url = "", headers }: HttpRequest): PlainRequest {
  const id = headers["last-event-id"];
  // A preflight request is for the address of the request that follows.
  const next = method === "OPTIONS" ? headers["access-control-request-method"] : undefined;
  return { verb: next ?? method, url, lastEventId: Array.isArray(id) ? id[0] : id };
}

async function plainAnswer(
  answer: UniversalServerResponse,
  request: HttpRequest,
  plain: PlainMatch | undefined,
): Promise<UniversalServerResponse> {
  const events = plain?.route.events;
  if (events === undefined) return answer;
  const isResumed = plainRequestOf(request).lastEventId !== undefined;
  return await plainStream(answer, { events, accept: request.headers.accept, isResumed });
}

interface Exchange extends Pick<RpcHandlerOptions, "limits" | "held"> {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** The request message, if it is not the body. */
  readonly message: JsonObject | undefined;
}

/** Shared by all requests, each of which ends so: creating an error with its stack is expensive. */
const clientClosed = new ConnectError("the client closed the connection", Code.Canceled);

function universalRequest(
  { method }: UniversalHandler,
  { request, response, limits, held, message }: Exchange,
): UniversalServerRequest {
  const contextValues = createContextValues();
  setClientAddress(contextValues, request.socket.remoteAddress ?? "");
  setPeerOf(contextValues, peerCertificateOf(request.socket));
  const closed = new AbortController();
  const bytes = held.open(() => ownerOf(contextValues));
  response.once("close", () => {
    bytes.release();
    closed.abort(clientClosed);
  });
  const isStream = requestStreamKinds.has(method.methodKind);
  const { header, chunks } =
    message === undefined
      ? requestBody(headersOf(request), {
          request,
          schema: method.input,
          isStream,
          limits,
          held: bytes,
        })
      : messageBody(headersOf(request), method, message);
  return {
    httpVersion: request.httpVersion,
    method: message === undefined ? (request.method ?? "") : "POST",
    // The authority is of no interest, and may be missing or malformed.
    url: new URL(request.url ?? "", "http://reeve.invalid").toString(),
    header,
    body: chunks,
    signal: closed.signal,
    contextValues,
  };
}

function headersOf(request: HttpRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || name.startsWith(":")) continue;
    for (const each of Array.isArray(value) ? value : [value]) headers.append(name, each);
  }
  return headers;
}
