import { createServer as createHttp1Server } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { ServerHttp2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { createServer } from "node:net";
import { ErrorReason } from "@reeve/contracts/error";
import type { ListenAddress } from "../../config.ts";
import { Failure } from "../../failure.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { ServerLimits } from "../server-limits.ts";
import { ConnectionLimits } from "./connection-limits.ts";
import { finishBodies } from "./finish-body.ts";
import type { HttpHandler } from "./http-handler.ts";
import { pingSession } from "./ping-session.ts";

/** The first bytes of a client with prior knowledge of HTTP/2. */
const http2Preface = "PRI";
/** The timeout for the first bytes of a connection, and for the headers of its request. */
const firstBytesMs = 10_000;
/** The time that connections have to close before they are destroyed. */
const closeMs = 2_000;

/** An open port. Disposing it closes the port and its connections. */
export interface OpenPort extends AsyncDisposable {
  readonly port: number;
}

export interface HttpPortOptions {
  readonly limits: ServerLimits;
  readonly log: Logger;
}

/**
 * Serves HTTP/2 without TLS and HTTP/1.1 on one port, distinguished by the first bytes of a connection. Throws a Failure if
 * it cannot listen on the address.
 */
export async function openHttpPort(
  address: ListenAddress,
  handler: HttpHandler,
  { limits, log }: HttpPortOptions,
): Promise<OpenPort> {
  const handle = finishBodies(guarded(handler, log), limits.maxMessageBytes);
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
  const listener = createServer({ noDelay: true }, (socket) => {
    if (!connections.accepts(socket)) return;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.setTimeout(firstBytesMs, () => socket.destroy());
    let first = Buffer.alloc(0);
    socket.on("data", function read(bytes: Buffer) {
      first = Buffer.concat([first, bytes]);
      const start = first.toString("latin1", 0, http2Preface.length);
      // "P" may begin "PRI" or "POST".
      if (start.length < http2Preface.length && http2Preface.startsWith(start)) return;
      socket.off("data", read);
      socket.setTimeout(0);
      socket.removeAllListeners("timeout");
      socket.pause();
      socket.unshift(first);
      if (start === http2Preface) http2.emit("connection", socket);
      else {
        http1.emit("connection", socket);
        // Only for HTTP/1.1: an HTTP/2 session resumes the socket itself, and would miss bytes that flow earlier.
        socket.resume();
      }
    });
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
