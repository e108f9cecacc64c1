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
import { requestBody } from "./request-body.ts";

/** The methods whose requests are streams of messages. */
const methodsWithStreams: ReadonlySet<string> = new Set(["client_streaming", "bidi_streaming"]);

/** A handler for requests of either version of HTTP. */
export type HttpHandler = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void;

/**
 * Serves the routes of `routes`, and everything else by `fallback`. A client that goes away is no event worth a line. A
 * message over `readMaxBytes` is refused with details, as everything else is.
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
    // Node's requests are bytes; only those of other frameworks may be parsed already.
    const given = universal.body as AsyncIterable<Uint8Array>;
    const isStream = methodsWithStreams.has(handler.method.methodKind);
    const body = requestBody(given, isStream ? undefined : options.readMaxBytes);
    const header = new Headers(universal.header);
    // By this header alone a protocol would refuse what is too large, without a reason.
    if (!isStream) header.delete("content-length");
    response.once("finish", () => void body.drain().catch(() => undefined));
    handler({ ...universal, header, body: body.chunks })
      .then((answer) => universalResponseToNodeResponse(answer, response))
      .catch((error: unknown) => {
        log.debug({ code: ConnectError.from(error).code, path }, "client went away");
      });
  };
}
