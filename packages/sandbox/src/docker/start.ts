import { abortable } from "@reeve/platform/async/abortable";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { settledWithin } from "@reeve/platform/async/settled-within";
import { Failure } from "@reeve/platform/failure";
import type { AgentChannel } from "../agent/agent-channel.ts";
import { ContainerStreams } from "./container-streams.ts";
import type { Engine } from "./engine.ts";
import type { ContainerAttempt } from "./remedies.ts";
import { remedyFor } from "./remedies.ts";

const startMs = 30_000;
const removeMs = 30_000;
/** How long the end of a sandbox waits for the removal of its container, which continues in the background. */
const maxRemovalWaitMs = 5_000;

/** Describes a container to start. */
export interface ContainerStart {
  readonly engine: Engine;
  readonly name: string;
  readonly config: object;
  readonly attempt: ContainerAttempt;
  /** Called once, when the container is gone or could not be removed. */
  readonly onGone: () => void;
}

/**
 * Starts a container and connects to its agent. Removes the container if that fails or `signal` aborts. An abort rejects at
 * once; requests to the engine continue in the background, because the engine completes them even if no client reads the answer.
 */
export async function startContainer(
  start: ContainerStart,
  signal: AbortSignal,
): Promise<AgentChannel> {
  signal.throwIfAborted();
  return await abortable(startAndAttach(start, signal), signal);
}

async function startAndAttach(start: ContainerStart, signal: AbortSignal): Promise<AgentChannel> {
  const { engine, name, config } = start;
  const within = AbortSignal.timeout(startMs);
  try {
    await engine.post(`/containers/create?name=${name}`, config, within);
    signal.throwIfAborted();
    const socket = await engine.attach(
      `/containers/${name}/attach?stream=1&stdin=1&stdout=1&stderr=1`,
      within,
    );
    const streams = new ContainerStreams(socket);
    // `once` of node:events would reject on an error, but "close" follows an error as well.
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    socket.once("close", () => close());
    await engine.post(`/containers/${name}/start`, undefined, within);
    signal.throwIfAborted();
    const { promise: killed, resolve } = Promise.withResolvers<void>();
    const end = async () => {
      // The engine closes the streams when the container has ended, for whatever reason.
      await Promise.race([closed, killed]);
      socket.destroy();
      await settledWithin(remove(start), maxRemovalWaitMs, neverAborts);
      return streams.complaint || complaintOf(start.attempt);
    };
    const ended = end();
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
    await settledWithin(remove(start), maxRemovalWaitMs, neverAborts);
    throw withRemedy(error, start.attempt);
  }
}

async function remove({ engine, name, onGone }: ContainerStart): Promise<void> {
  await engine.remove(name, AbortSignal.timeout(removeMs)).catch(() => undefined);
  onGone();
}

function complaintOf({ image }: ContainerAttempt): string {
  return `the agent ended at once; check docker run --rm --entrypoint /usr/bin/python3 ${image} -V`;
}

function withRemedy(error: unknown, attempt: ContainerAttempt): unknown {
  if (!(error instanceof Failure)) return error;
  const remedy = remedyFor(error.message, attempt);
  if (remedy === undefined) return error;
  const { kind, reason, message } = error;
  return new Failure(kind, reason, `${message}; ${remedy}`, { cause: error });
}
