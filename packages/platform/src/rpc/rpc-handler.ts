import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { ConnectRouter, ConnectRouterOptions } from "@connectrpc/connect";
import { ConnectError, createConnectRouter } from "@connectrpc/connect";
import {
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import type { Logger } from "../telemetry/logger.ts";
import { readingStrictly } from "../strict/strict-json.ts";
import { requestBody } from "./request-body.ts";

/** The kinds of methods whose request is a stream of messages. */
const requestStreamKinds: ReadonlySet<string> = new Set(["client_streaming", "bidi_streaming"]);

/** A handler for requests over HTTP/1.1 and HTTP/2. */
export type HttpHandler = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void;

/**
 * Returns a handler that serves `routes`, and passes all other requests to `fallback`. Refuses a message over
 * `readMaxBytes` with reason TOO_LARGE. A client that disconnects is logged at level debug only.
 */
export function rpcHandler(
  routes: (router: ConnectRouter) => void,
  options: ConnectRouterOptions & { readonly readMaxBytes: number },
  fallback: HttpHandler,
  log: Logger,
): HttpHandler {
  const router = createConnectRouter({ acceptCompression: [compressionGzip], ...options });
  routes(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    const [path = ""] = (request.url ?? "").split("?", 1);
    const handler = handlers.get(path);
    if (handler === undefined) return fallback(request, response);
    const universal = universalRequestFromNodeRequest(request, response, undefined, undefined);
    // The type allows for bodies that a framework has parsed; Node's requests are always bytes.
    const bytes = universal.body as AsyncIterable<Uint8Array>;
    const isStream = requestStreamKinds.has(handler.method.methodKind);
    const body = requestBody(bytes, isStream ? undefined : options.readMaxBytes);
    const header = new Headers(universal.header);
    // With this header, the protocol would refuse a message that is too large without a reason.
    if (!isStream) header.delete("content-length");
    response.once("finish", () => void body.drain().catch(() => undefined));
    readingStrictly(handler.method, () => handler({ ...universal, header, body: body.chunks }))
      .then((answer) => universalResponseToNodeResponse(answer, response))
      .catch((error: unknown) => {
        log.debug({ code: ConnectError.from(error).code, path }, "client disconnected");
      });
  };
}
