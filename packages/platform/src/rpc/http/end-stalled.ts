import { constants } from "node:http2";
import type { HttpHandler, HttpResponse } from "./http-handler.ts";

/**
 * Ends an answer of which the client has read nothing for `stallMs` although some waits: it holds memory, and a request of the server's
 * limits. A client that reads slowly keeps its answer, and so does one that waits for the next message. A client that comes back resumes
 * its stream. Over HTTP/2, the time begins anew with all that the connection sends, such as pings and the bytes of other answers, so
 * only an answer of a connection that sends nothing else is ended.
 */
export function endStalled(handler: HttpHandler, stallMs: number): HttpHandler {
  return (request, response) => {
    // The time begins anew with each byte that the connection accepts.
    response.setTimeout(stallMs, () => {
      if (waits(response)) end(response);
    });
    handler(request, response);
  };
}

/** Whether the answer has bytes that the connection does not accept. */
function waits(response: HttpResponse): boolean {
  return ("stream" in response ? response.stream : response).writableLength > 0;
}

function end(response: HttpResponse): void {
  if (!("stream" in response)) response.destroy();
  else {
    // Closing alone would wait until what is left was sent.
    response.stream.close(constants.NGHTTP2_CANCEL);
    response.stream.destroy();
  }
}
