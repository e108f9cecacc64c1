import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { ConnectRouter, ConnectRouterOptions } from "@connectrpc/connect";
import { ConnectError, createConnectRouter } from "@connectrpc/connect";
import {
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import type { Logger } from "./logger.ts";

/** A handler for requests of either version of HTTP. */
export type HttpHandler = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void;

/** Serves the routes of `routes`, and everything else by `fallback`. A client that goes away is no event worth a line. */
export function rpcHandler(
  routes: (router: ConnectRouter) => void,
  options: ConnectRouterOptions,
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
    handler(universal)
      .then((answer) => universalResponseToNodeResponse(answer, response))
      .catch((error: unknown) => {
        log.debug({ code: ConnectError.from(error).code, path }, "client went away");
      });
  };
}
