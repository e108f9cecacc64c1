import type { IncomingMessage } from "node:http";
import { PassThrough, Writable } from "node:stream";
import { WebSocket } from "ws";
import { onAbort } from "@reeve/platform/async/on-abort";
import type { Cluster } from "./cluster.ts";
import { refusal, unreachable } from "./cluster-failure.ts";
import { containerName } from "./spec.ts";

const protocols = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const channels = { stdin: 0, stdout: 1, stderr: 2 } as const;
const openMs = 15_000;
/** Interval of pings on an idle connection, which a proxy may have dropped without notice. */
const pingMs = 20_000;
const maxFrameBytes = 2 ** 15;
const maxComplaint = 2_000;

/** The streams of the first process of a pod. */
export interface PodStreams {
  readonly input: Writable;
  readonly output: PassThrough;
  /** Resolves when the connection is closed, for whatever reason. */
  readonly closed: Promise<void>;
  /** Returns the beginning of standard error. */
  complaint(): string;
  /** Closes the connection without waiting for the other side. The kubelet then closes standard input. */
  end(): void;
}

/**
 * Connects to the first process of a running pod. The connection lasts as long as the session. Throws a Failure if the API
 * server refuses, with the missing right, or does not answer.
 *
 * The client library's Attach is not used: it has no back-pressure, no timeout, and loses the text of a refusal.
 */
export async function attachPod(
  cluster: Cluster,
  name: string,
  signal: AbortSignal,
): Promise<PodStreams> {
  const query = `container=${containerName}&stdin=true&stdout=true&stderr=true&tty=false`;
  const path = `/api/v1/namespaces/${cluster.namespace}/pods/${name}/attach`;
  const address = `${cluster.server.replace(/\/$/, "").replace(/^http/, "ws")}${path}?${query}`;
  const { agent, headers, ca, cert, key, auth, rejectUnauthorized, servername } =
    await cluster.credentials();
  const socket = new WebSocket(address, protocols, {
    ...(agent !== undefined && address.startsWith("wss:") && { agent }),
    headers: headers as Record<string, string>,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(auth != null && { auth }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    ...(servername !== undefined && { servername }),
    perMessageDeflate: false,
    handshakeTimeout: openMs,
  });
  const streams = streamsOf(socket);
  await opened(socket, path, cluster.server, signal);
  return streams;
}

async function opened(
  socket: WebSocket,
  path: string,
  server: string,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  using _ = onAbort(signal, () => {
    // Before `terminate`, whose error event would win otherwise.
    reject(signal.reason);
    socket.terminate();
  });
  socket.once("open", () => resolve());
  socket.once("error", (cause) => reject(unreachable(server, cause)));
  socket.once("unexpected-response", (request, response: IncomingMessage) => {
    void bodyOf(response).then((body) => {
      request.destroy();
      return reject(refusal({ method: "GET", path }, response.statusCode ?? 0, body));
    });
  });
  await promise;
}

function streamsOf(socket: WebSocket): PodStreams {
  const output = new PassThrough();
  let complaint = "";
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  socket.on("message", (message: Buffer, isBinary) => {
    if (!isBinary || message.length === 0) return;
    const content = message.subarray(1);
    if (message[0] === channels.stderr && complaint.length < maxComplaint) {
      complaint += content.toString("utf8");
    }
    if (message[0] !== channels.stdout || output.write(content)) return;
    socket.pause();
    output.once("drain", () => socket.resume());
  });
  const stopPings = startPings(socket);
  socket.on("error", () => undefined);
  socket.once("close", () => {
    stopPings();
    output.end();
    close();
  });
  return {
    input: inputOf(socket),
    output,
    closed,
    complaint: () => complaint.trim().slice(0, maxComplaint),
    end: () => {
      // A paused socket would not notice that it is closed.
      socket.resume();
      socket.terminate();
    },
  };
}

/** Pings the connection, and ends it if it does not answer. Returns a function that stops the pings. */
function startPings(socket: WebSocket): () => void {
  let isAnswered = true;
  socket.on("pong", () => (isAnswered = true));
  const timer = setInterval(() => {
    // A paused socket reads no answers either.
    if (socket.isPaused || socket.readyState !== WebSocket.OPEN) return;
    if (!isAnswered) return socket.terminate();
    isAnswered = false;
    socket.ping();
  }, pingMs);
  timer.unref();
  return () => clearInterval(timer);
}

function inputOf(socket: WebSocket): Writable {
  return new Writable({
    write(chunk: Buffer, _, done) {
      if (socket.readyState !== WebSocket.OPEN) return done();
      let last: Buffer | undefined;
      for (let at = 0; at < chunk.length; at += maxFrameBytes) {
        if (last !== undefined) socket.send(last);
        last = Buffer.concat([Buffer.of(channels.stdin), chunk.subarray(at, at + maxFrameBytes)]);
      }
      if (last === undefined) return done();
      socket.send(last, () => done());
    },
  });
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  let body = "";
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      body += chunk.toString("utf8");
      if (body.length > maxComplaint) break;
    }
  } catch {
    // The connection broke; the part that arrived must do.
  }
  return body;
}
