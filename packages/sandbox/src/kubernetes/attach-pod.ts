import type { IncomingMessage } from "node:http";
import { PassThrough, Writable } from "node:stream";
import { WebSocket } from "ws";
import type { Cluster } from "./cluster.ts";
import { refusal, unreachable } from "./cluster-failure.ts";
import { containerName } from "./spec.ts";

const protocols = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const channels = { stdin: 0, stdout: 1, stderr: 2 } as const;
const openMs = 15_000;
/** A connection over which nothing comes is looked after, because what lies between may have forgotten it. */
const pingMs = 20_000;
const partBytes = 2 ** 15;
const maxComplaint = 2_000;

/** The streams of the first process of a pod, until either side ends them. */
export interface PodStreams {
  readonly input: Writable;
  readonly output: PassThrough;
  /** Resolves when the connection is closed, however that came about. */
  readonly closed: Promise<void>;
  /** The first that was written to standard error. */
  complaint(): string;
  /** Closes the connection without waiting for the other side, by which the kubelet closes the pipe. */
  end(): void;
}

/** Connects to the first process of a running pod. One connection, for as long as the session lasts. Throws a Failure. */
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
  const abort = () => {
    reject(signal.reason as Error);
    socket.terminate();
  };
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  socket.once("open", () => resolve());
  socket.once("error", (cause) => reject(unreachable(server, cause)));
  socket.once("unexpected-response", (asked, answer: IncomingMessage) => {
    void bodyOf(answer).then((said) => {
      asked.destroy();
      return reject(refusal({ method: "GET", path }, answer.statusCode ?? 0, said));
    });
  });
  await promise.finally(() => signal.removeEventListener("abort", abort));
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
  const ended = keptAlive(socket);
  socket.on("error", () => undefined);
  socket.once("close", () => {
    ended();
    output.end();
    close();
  });
  return {
    input: inputOf(socket),
    output,
    closed,
    complaint: () => complaint.trim().slice(0, maxComplaint),
    end: () => {
      // A reader who has stopped reading does not keep the connection.
      socket.resume();
      socket.terminate();
    },
  };
}

/** Ends a connection that does not answer. Gives what ends the asking. */
function keptAlive(socket: WebSocket): () => void {
  let isAnswered = true;
  socket.on("pong", () => (isAnswered = true));
  const timer = setInterval(() => {
    // While nothing is read, no answer is either.
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
      for (let at = 0; at < chunk.length; at += partBytes) {
        if (last !== undefined) socket.send(last);
        last = Buffer.concat([Buffer.of(channels.stdin), chunk.subarray(at, at + partBytes)]);
      }
      if (last === undefined) return done();
      socket.send(last, () => done());
    },
  });
}

async function bodyOf(answer: IncomingMessage): Promise<string> {
  let said = "";
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      said += chunk.toString("utf8");
      if (said.length > maxComplaint) break;
    }
  } catch {
    // Whatever came is all there is.
  }
  return said;
}
