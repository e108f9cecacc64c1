import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { constants } from "node:http2";
import type { HttpHandler } from "./http-handler.ts";
import { nextChunk } from "./next-chunk.ts";

/** The time that an HTTP/1.1 client has to notice that its request is answered. */
const discardMs = 2_000;
/** The time for the trailers of an HTTP/2 answer to be sent: closing the stream earlier would lose them. */
const trailersMs = 250;

/**
 * Ends the bodies that `handler` answered before their end. Over HTTP/2, the stream is closed. Over HTTP/1.1, up to
 * `maxBytes` are discarded, so that a client that reads the answer only after it sent the whole body gets it; a longer or
 * slower body ends with the connection.
 */
export function finishBodies(handler: HttpHandler, maxBytes: number): HttpHandler {
  return (request, response) => {
    // An error of the connection is an error of every read and write in progress, and of nothing else.
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    if ("stream" in request) closeAfterAnswer(request);
    else {
      // Otherwise Node itself reads a body that nobody read, to its end.
      request.read(0);
      response.once("finish", () => {
        discardRest(request, maxBytes).catch(() => request.destroy());
      });
    }
    handler(request, response);
  };
}

function closeAfterAnswer({ stream }: Http2ServerRequest): void {
  stream.once("finish", () => {
    const timer = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), trailersMs);
    stream.once("close", () => clearTimeout(timer));
  });
}

async function discardRest(request: IncomingMessage, maxBytes: number): Promise<void> {
  const signal = AbortSignal.timeout(discardMs);
  let left = maxBytes;
  while (left >= 0) {
    const chunk = await nextChunk(request, signal);
    if (chunk === undefined) return;
    left -= chunk.length;
  }
  request.destroy();
}
