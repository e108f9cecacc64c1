import { Failure } from "@reeve/platform/failure";
import type { AgentChannel } from "../agent/agent-channel.ts";
import { ContainerStreams } from "./container-streams.ts";
import type { Engine } from "./engine.ts";
import type { ContainerAttempt } from "./remedies.ts";
import { remedyFor } from "./remedies.ts";

const beginMs = 30_000;
const endMs = 30_000;
/** How long the end of a sandbox waits for its container to be taken away; what takes longer is taken away beside it. */
const maxWaitMs = 5_000;

/** A container to be started. */
export interface ContainerStart {
  readonly engine: Engine;
  readonly name: string;
  readonly config: object;
  readonly attempt: ContainerAttempt;
  /** Called once, when the container is gone, or could not be taken away. */
  readonly onGone: () => void;
}

/**
 * Starts a container and connects to its agent. What was begun is taken away again when that fails, or nobody wants it any
 * more. Whoever aborts is not kept waiting, but what was asked of the engine is: one that is not listened to does it all
 * the same.
 */
export async function startContainer(
  start: ContainerStart,
  signal: AbortSignal,
): Promise<AgentChannel> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  const starting = started(start, signal);
  starting.catch(() => undefined);
  try {
    return await Promise.race([starting, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

async function started(start: ContainerStart, signal: AbortSignal): Promise<AgentChannel> {
  const { engine, name, config } = start;
  const begin = AbortSignal.timeout(beginMs);
  try {
    await engine.post(`/containers/create?name=${name}`, config, begin);
    signal.throwIfAborted();
    const socket = await engine.attach(
      `/containers/${name}/attach?stream=1&stdin=1&stdout=1&stderr=1`,
      begin,
    );
    const streams = new ContainerStreams(socket);
    // Also after an error, which a promise of its event would reject with.
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    socket.once("close", () => close());
    await engine.post(`/containers/${name}/start`, undefined, begin);
    signal.throwIfAborted();
    const { promise: killed, resolve } = Promise.withResolvers<void>();
    const gone = async () => {
      // The engine closes its streams when the container has ended, however that came about.
      await Promise.race([closed, killed]);
      socket.destroy();
      await inTime(removed(start));
      return streams.complaint || complaintOf(start.attempt);
    };
    const ended = gone();
    return {
      input: socket,
      output: streams.output,
      ended,
      kill: async () => {
        resolve();
        await ended;
      },
    };
  } catch (error) {
    await inTime(removed(start));
    throw explained(error, start.attempt);
  }
}

async function removed({ engine, name, onGone }: ContainerStart): Promise<void> {
  await engine.remove(name, AbortSignal.timeout(endMs)).catch(() => undefined);
  onGone();
}

/** An engine that does not answer keeps nobody from an end. */
async function inTime(work: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, maxWaitMs);
  await Promise.race([work, late]);
  clearTimeout(timer);
}

function complaintOf({ image }: ContainerAttempt): string {
  return `its agent ended at once; does this work: docker run --rm --entrypoint /usr/bin/python3 ${image} -V`;
}

function explained(error: unknown, attempt: ContainerAttempt): unknown {
  if (!(error instanceof Failure)) return error;
  const wayOut = remedyFor(error.message, attempt);
  if (wayOut === undefined) return error;
  const { kind, reason, message } = error;
  return new Failure(kind, reason, `${message}; ${wayOut}`, { cause: error });
}
