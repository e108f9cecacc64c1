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

interface Outward {
  readonly url: URL;
  readonly socket: Socket;
  readonly connection: Connection;
}

/** Passes a plain request on over a connection of its own, and the answer back. Redirects are the client's to follow. */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { url, socket, connection }: Outward,
): void {
  const asking = ask({
    // Without an agent, which would make connections of its own.
    createConnection: () => socket,
    method: request.method ?? "GET",
    path: `${url.pathname}${url.search}`,
    // Whatever the client says there, the host is the one that was looked at.
    headers: { ...passedOn(request.headers), host: url.host },
    setHost: false,
  });
  asking.on("error", () => {
    connection.end("closed");
    if (response.headersSent) return void response.destroy();
    response.writeHead(502, { connection: "close" }).end("the other side has broken off\n");
  });
  asking.once("response", (answer) => {
    answer.on("data", ({ length }: Buffer) => connection.count("received", length));
    answer.on("error", () => response.destroy());
    response.writeHead(answer.statusCode ?? 502, passedOn(answer.headers));
    answer.pipe(response);
  });
  response.once("close", () => connection.end("closed"));
  request.on("data", ({ length }: Buffer) => connection.count("sent", length));
  request.on("error", () => asking.destroy());
  request.pipe(asking);
}

function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  const dropped = new Set([...ofOneHop, ...named]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
}
