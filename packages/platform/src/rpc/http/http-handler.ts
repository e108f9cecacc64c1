import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

/** A handler for requests over HTTP/1.1 and HTTP/2. */
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void;
