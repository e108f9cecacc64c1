import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { request as send } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import type { Connection } from "./call-traffic.ts";
import type { SecretExchange } from "./forward-with-secrets.ts";
import {
  redactedBody,
  refusalOfResponse,
  withSecrets,
  withoutSecrets,
} from "./forward-with-secrets.ts";

/** Hop-by-hop headers, which a proxy does not forward. */
const hopByHop = [
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

/** Headers that define the end and the target of a request. The header `connection` must not declare them hop-by-hop. */
const essential = ["content-length", "host", "transfer-encoding"];

interface Outbound {
  readonly url: URL;
  readonly socket: Socket;
  readonly connection: Connection;
  /** The headers with secrets that are added, over TLS. Absent: the request is forwarded as it is. */
  readonly secrets?: SecretExchange | undefined;
}

/** Returns why a request is ambiguous without its hop-by-hop headers; undefined if it is not. */
export function ambiguityOf({ headers }: IncomingMessage): string | undefined {
  const named = connectionHeaders(headers).find((name) => essential.includes(name));
  return named && `the header connection names ${named}, which must be forwarded`;
}

/** Forwards a plain request over its own connection, and returns the response. The client follows redirects itself. */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { url, socket, connection, secrets }: Outbound,
): void {
  if (response.destroyed) return connection.end("closed");
  const headers = { ...endToEnd(request.headers), ...framing(request) };
  const forwarded = send({
    // An agent would open other connections.
    createConnection: () => socket,
    method: request.method ?? "GET",
    path: `${url.pathname}${url.search}`,
    // The checked host replaces the header of the client.
    headers: { ...(secrets ? withSecrets(headers, secrets) : headers), host: hostOf(url, secrets) },
    setHost: false,
  });
  const breakOff = (reason: string) => {
    connection.end("broken off");
    if (response.headersSent) return void response.destroy();
    response.writeHead(502, { connection: "close" }).end(`${reason}\n`);
  };
  forwarded.on("error", () => breakOff(broken));
  // The header `upgrade` is not forwarded, so no server may answer with another protocol.
  forwarded.once("upgrade", () => breakOff(broken));
  forwarded.once("response", (received) => {
    received.on("data", ({ length }: Buffer) => connection.count("received", length));
    received.on("error", () => response.destroy());
    const refusal = secrets && refusalOfResponse(received);
    if (refusal !== undefined) return breakOff(refusal);
    const answered = endToEnd(received.headers);
    try {
      response.writeHead(
        received.statusCode ?? 502,
        secrets ? withoutSecrets(answered, secrets) : answered,
      );
      if (secrets === undefined) received.pipe(response);
      else pipeline(received, redactedBody(secrets), response, () => undefined);
    } catch {
      // The server sent an invalid status or header, which Node accepts but does not send.
      forwarded.destroy(new Error("the response cannot be forwarded"));
    }
  });
  response.once("close", () => connection.end("closed"));
  request.on("data", ({ length }: Buffer) => connection.count("sent", length));
  request.once("error", () => forwarded.destroy());
  request.pipe(forwarded);
}

const broken = "the server broke the connection";

/** The host as the header names it: without the default port of the scheme that the connection has. */
function hostOf(url: URL, secrets: SecretExchange | undefined): string {
  return secrets === undefined ? url.host : new URL(`https://${url.host}`).host;
}

/** Forwards a chunked body as chunks; for some methods, Node would not by default. */
function framing({ headers }: IncomingMessage): IncomingHttpHeaders {
  return headers["transfer-encoding"] === undefined ? {} : { "transfer-encoding": "chunked" };
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const dropped = new Set([...hopByHop, ...connectionHeaders(headers)]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
}

/** Returns the headers that the header `connection` declares hop-by-hop. */
function connectionHeaders({ connection = "" }: IncomingHttpHeaders): readonly string[] {
  return connection
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
}
