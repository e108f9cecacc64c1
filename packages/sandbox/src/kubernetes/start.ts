import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { agentProgram } from "../programs/programs.ts";
import type { AgentChannel } from "../agent/agent-channel.ts";
import type { PodStreams } from "./attach-pod.ts";
import { attachPod } from "./attach-pod.ts";
import { waitForPod } from "./wait-for-pod.ts";
import type { Cluster } from "./cluster.ts";
import type { EndCause, Pod, PodState } from "./pod-state.ts";
import { stateOfPod } from "./pod-state.ts";
import type { SessionRequest, SessionSource } from "./session-source.ts";

/** How long to wait for the reason why a pod has ended. */
const causeMs = 5_000;
const releaseMs = 10_000;

export interface SessionStartOptions extends SessionRequest {
  readonly cluster: Cluster;
  readonly source: SessionSource;
  /** Called once, when the session is released or could not be. */
  readonly onGone: () => void;
  readonly startTimeoutMs: number;
}

/** The agent of a pod, and the reason of its end. */
export interface SessionChannel extends AgentChannel {
  /** Resolves when the pod is over, with the reason. */
  readonly cause: Promise<EndCause>;
}

/**
 * Acquires a pod, waits until it runs, attaches to it, and sends it the agent. If that fails or `signal` aborts, releases the
 * pod in the background.
 */
export async function startSession(
  start: SessionStartOptions,
  signal: AbortSignal,
): Promise<SessionChannel> {
  signal.throwIfAborted();
  const { cluster, source, sessionId } = start;
  const timeout = AbortSignal.timeout(start.startTimeoutMs);
  const until = AbortSignal.any([signal, timeout]);
  let state: PodState | undefined;
  try {
    const name = await source.acquire(start, until);
    const hasStarted = (pod: Pod) => {
      state = stateOfPod(pod);
      return state.kind !== "waiting";
    };
    if ((await waitForPod(cluster, name, hasStarted, until)) === undefined) state = deleted;
    if (state?.kind !== "running") throw notStarted(name, state);
    const streams = await attachPod(cluster, name, until);
    const program = Buffer.from(agentProgram);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(program.length);
    streams.input.write(Buffer.concat([head, program]));
    return channelOf(start, name, streams);
  } catch (error) {
    void release(start);
    signal.throwIfAborted();
    throw timeout.aborted && !(error instanceof Failure) ? notStarted(sessionId, state) : error;
  }
}

const deleted: PodState = { kind: "over", why: "it was deleted", cause: "other" };

function channelOf(start: SessionStartOptions, name: string, streams: PodStreams): SessionChannel {
  let isKilled = false;
  let kills = 0;
  const cause = streams.closed.then(async () => {
    const found = isKilled ? undefined : await endOf(start.cluster, name);
    if (found?.cause === "memory") kills++;
    return found;
  });
  const ended = cause.then(async (found) => {
    await release(start);
    return streams.complaint() || `the pod ${name} ended: ${found?.why ?? "it was deleted"}`;
  });
  return {
    input: streams.input,
    output: streams.output,
    cause: cause.then((found) => found?.cause ?? "other"),
    ended,
    kill: async () => {
      isKilled = true;
      streams.end();
      await ended;
    },
    memoryKills: () => kills,
  };
}

/** Waits briefly until the cluster reports why a pod with closed streams is over. */
async function endOf(cluster: Cluster, name: string) {
  let state: PodState | undefined;
  const isOver = (pod: Pod) => {
    state = stateOfPod(pod);
    return state.kind === "over";
  };
  await waitForPod(cluster, name, isOver, AbortSignal.timeout(causeMs)).catch(() => undefined);
  return state?.kind === "over" ? state : undefined;
}

async function release({ source, sessionId, onGone }: SessionStartOptions): Promise<void> {
  // The next sweep finds a session that cannot be released now.
  await source.release(sessionId, AbortSignal.timeout(releaseMs)).catch(() => undefined);
  onGone();
}

function notStarted(name: string, state: PodState | undefined): Failure {
  const why = state === undefined || state.kind === "running" ? "its status is unknown" : state.why;
  const remedy =
    state?.kind === "stuck"
      ? state.remedy
      : state?.kind === "over"
        ? `check that ${name} was not evicted and that its image has /usr/bin/python3`
        : "check that nodes have room: kubectl describe pod";
  const problem = `the pod ${name} did not start: ${why}; ${remedy}`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}
