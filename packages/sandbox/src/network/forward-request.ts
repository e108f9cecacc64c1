import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { request as ask } from "node:http";
import type { Socket } from "node:net";
import type { Connection } from "./call-traffic.ts";

/** What concerns one connection only, and is not passed on to the next. */
const ofOneHop = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** What says where a request ends and whom it is for: no connection may claim it for itself. */
const ofTheRequest = ["content-length", "host", "transfer-encoding"];

interface Outward {
  readonly url: URL;
  readonly socket: Socket;
  readonly connection: Connection;
}

/** Why a request cannot be passed on as it is meant. Undefined: it can be. */
export function ambiguityOf({ headers }: IncomingMessage): string | undefined {
  const named = namedOf(headers).find((name) => ofTheRequest.includes(name));
  return named && `the header connection names ${named}, without which the request is another one`;
}

/** Passes a plain request on over a connection of its own, and the answer back. Redirects are the client's to follow. */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { url, socket, connection }: Outward,
): void {
  if (response.destroyed) return connection.end("closed");
  const asking = ask({
    // Without an agent, which would make connections of its own.
    createConnection: () => socket,
    method: request.method ?? "GET",
    path: `${url.pathname}${url.search}`,
    // Whatever the client says there, the host is the one that was looked at.
    headers: { ...passedOn(request.headers), ...framing(request), host: url.host },
    setHost: false,
  });
  const breakOff = () => {
    connection.end("broken off");
    if (response.headersSent) return void response.destroy();
    response.writeHead(502, { connection: "close" }).end("the other side has broken off\n");
  };
  asking.on("error", breakOff);
  // Nobody has asked for another protocol.
  asking.once("upgrade", breakOff);
  asking.once("response", (answer) => {
    answer.on("data", ({ length }: Buffer) => connection.count("received", length));
    answer.on("error", () => response.destroy());
    try {
      response.writeHead(answer.statusCode ?? 502, passedOn(answer.headers));
      answer.pipe(response);
    } catch {
      // A server may answer what no server may.
      asking.destroy(new Error("the answer cannot be passed on"));
    }
  });
  response.once("close", () => connection.end("closed"));
  request.on("data", ({ length }: Buffer) => connection.count("sent", length));
  request.once("error", () => asking.destroy());
  request.pipe(asking);
}

/** A body without a length is sent on in chunks, whatever the method. */
function framing({ headers }: IncomingMessage): IncomingHttpHeaders {
  return headers["transfer-encoding"] === undefined ? {} : { "transfer-encoding": "chunked" };
}

function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const dropped = new Set([...ofOneHop, ...namedOf(headers)]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
}

/** The headers that are of one connection because it says so. */
function namedOf({ connection = "" }: IncomingHttpHeaders): readonly string[] {
  return connection
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
}
