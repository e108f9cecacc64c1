import { createServer as createHttp1Server } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { ServerHttp2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { createServer } from "node:net";
import { ErrorReason } from "@reeve/contracts/error";
import type { ListenAddress } from "../../config.ts";
import { Failure } from "../../failure.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { ServerTls } from "../../tls/server-tls.ts";
import type { ServerLimits } from "../server-limits.ts";
import { ConnectionLimits } from "./connection-limits.ts";
import { endStalled } from "./end-stalled.ts";
import { finishBodies } from "./finish-body.ts";
import { firstBytesMs, onFirstBytes } from "./first-bytes.ts";
import type { HttpHandler } from "./http-handler.ts";
import { pingSession } from "./ping-session.ts";
import { http2Preface } from "./refuse-protocol.ts";
import { tlsLayer } from "./tls-layer.ts";

/** The time that connections have to close before they are destroyed. */
const closeMs = 2_000;

/** An open port. Disposing it closes the port and its connections. */
export interface OpenPort extends AsyncDisposable {
  readonly port: number;
}

export interface HttpPortOptions {
  readonly limits: ServerLimits;
  readonly log: Logger;
  /** The certificate of the port, which then refuses connections without TLS. Default: no TLS. */
  readonly tls?: ServerTls | undefined;
}

/**
 * Serves HTTP/2 and HTTP/1.1 on one port, distinguished by the first bytes of a connection. Throws a Failure if it cannot
 * listen on the address.
 */
export async function openHttpPort(
  address: ListenAddress,
  handler: HttpHandler,
  { limits, log, tls }: HttpPortOptions,
): Promise<OpenPort> {
  const bounded = endStalled(guarded(handler, log), limits.answerStallMs);
  const handle = finishBodies(bounded, limits.maxMessageBytes);
  const timeouts = {
    headersTimeout: firstBytesMs,
    connectionsCheckingInterval: 2_000,
    // The handler limits the time of a body: a stream of requests may last.
    requestTimeout: 0,
  };
  const http1 = createHttp1Server({ keepAliveTimeout: 65_000, ...timeouts }, handle);
  // Node enforces the timeouts of connections from this event on. A server that only receives sockets never emits it.
  http1.emit("listening");
  const http2 = createHttp2Server(
    { settings: { maxConcurrentStreams: limits.maxStreams } },
    handle,
  );
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  http2.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => session.destroy());
    session.once("close", () => sessions.delete(session));
    pingSession(session);
  });
  const serveSocket = (socket: Socket) =>
    onFirstBytes(socket, http2Preface, (start) => {
      if (start === http2Preface) http2.emit("connection", socket);
      else {
        http1.emit("connection", socket);
        // Only for HTTP/1.1: an HTTP/2 session resumes the socket itself, and would miss bytes that flow earlier.
        socket.resume();
      }
    });
  const open = tls === undefined ? serveSocket : tlsLayer(tls, serveSocket, log);
  const listener = createServer({ noDelay: true }, (socket) => {
    if (!connections.accepts(socket)) return;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    open(socket);
  });
  const connections = new ConnectionLimits(listener, limits, log);
  await listen(listener, address);
  return {
    // A TCP listener has an address and a port.
    port: (listener.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => listener.close(resolve));
      for (const session of sessions) session.close();
      http1.close();
      const timeout = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, closeMs);
      await closed;
      clearTimeout(timeout);
    },
  };
}

async function listen(listener: ReturnType<typeof createServer>, { host, port }: ListenAddress) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  listener.once("error", reject);
  listener.listen({ host, port }, resolve);
  try {
    await promise;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    const problem = code === "EADDRINUSE" ? "another program uses it" : String(code);
    throw new Failure(
      "unavailable",
      ErrorReason.UNAVAILABLE,
      `cannot listen on ${host}:${port}: ${problem}; end that program or choose another address`,
      { cause: error },
    );
  }
}

/** Answers a request whose handler throws: the error would otherwise end the process. */
function guarded(handler: HttpHandler, log: Logger): HttpHandler {
  return (request, response) => {
    try {
      handler(request, response);
    } catch (error) {
      log.error({ err: error }, "request failed with an internal error");
      response.statusCode = 500;
      response.end();
    }
  };
}
