import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { agentProgram } from "../programs/programs.ts";
import type { SessionSpec } from "../port.ts";
import type { AgentChannel } from "../agent/agent-channel.ts";
import type { PodStreams } from "./attach-pod.ts";
import { attachPod } from "./attach-pod.ts";
import { waitForPod } from "./wait-for-pod.ts";
import type { Cluster } from "./cluster.ts";
import type { EndCause, Pod, PodState } from "./pod-state.ts";
import { stateOfPod } from "./pod-state.ts";
import type { SessionSource } from "./session-source.ts";

/** A node may have to be found, and an image to be pulled. */
export const beginMs = 60_000;
/** How long is waited for a pod to tell why it has ended. */
const tellMs = 5_000;
const releaseMs = 10_000;

export interface SessionStartOptions {
  readonly cluster: Cluster;
  readonly source: SessionSource;
  readonly sessionId: string;
  readonly spec: SessionSpec;
  /** Called once, when it is given back, or could not be. */
  readonly onGone: () => void;
  /** Absent: a minute. */
  readonly beginMs?: number | undefined;
}

/** The agent of a pod, and what the cluster says of its end. */
export interface SessionChannel extends AgentChannel {
  /** Resolves with the end: why the pod is over. */
  readonly cause: Promise<EndCause>;
}

/**
 * Gets a pod, waits until it runs, connects to it and gives it its agent. What was begun is given back when that fails, or
 * nobody wants it any more; whoever aborts is not kept waiting for that.
 */
export async function startSession(
  start: SessionStartOptions,
  signal: AbortSignal,
): Promise<SessionChannel> {
  signal.throwIfAborted();
  const { cluster, source, sessionId, spec } = start;
  const within = AbortSignal.timeout(start.beginMs ?? beginMs);
  const until = AbortSignal.any([signal, within]);
  let state: PodState | undefined;
  try {
    const name = await source.acquire(sessionId, spec, until);
    const isDecided = (pod: Pod) => {
      state = stateOfPod(pod);
      return state.kind !== "waiting";
    };
    if ((await waitForPod(cluster, name, isDecided, until)) === undefined) state = gone;
    if (state?.kind !== "running") throw notBegun(name, state);
    const streams = await attachPod(cluster, name, until);
    const program = Buffer.from(agentProgram);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(program.length);
    streams.input.write(Buffer.concat([head, program]));
    return channelOf(start, name, streams);
  } catch (error) {
    void given(start);
    signal.throwIfAborted();
    throw within.aborted && !(error instanceof Failure) ? notBegun(sessionId, state) : error;
  }
}

const gone: PodState = { kind: "over", why: "somebody has deleted it", cause: "other" };

function channelOf(start: SessionStartOptions, name: string, streams: PodStreams): SessionChannel {
  let isKilled = false;
  let kills = 0;
  const cause = streams.closed.then(async () => {
    const found = isKilled ? undefined : await endOf(start.cluster, name);
    if (found?.cause === "memory") kills++;
    return found;
  });
  const ended = cause.then(async (found) => {
    await given(start);
    return streams.complaint() || `the pod ${name} ended: ${found?.why ?? "it was taken away"}`;
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

/** What the cluster says of a pod whose streams are closed, if it says so soon. */
async function endOf(cluster: Cluster, name: string) {
  let state: PodState | undefined;
  const isOver = (pod: Pod) => {
    state = stateOfPod(pod);
    return state.kind === "over";
  };
  await waitForPod(cluster, name, isOver, AbortSignal.timeout(tellMs)).catch(() => undefined);
  return state?.kind === "over" ? state : undefined;
}

async function given({ source, sessionId, onGone }: SessionStartOptions): Promise<void> {
  // What cannot be given back now is found by the next look for what is left.
  await source.release(sessionId, AbortSignal.timeout(releaseMs)).catch(() => undefined);
  onGone();
}

function notBegun(name: string, state: PodState | undefined): Failure {
  const why = state === undefined || state.kind === "running" ? "nothing is told of it" : state.why;
  const wayOut =
    state?.kind === "stuck"
      ? state.remedy
      : state?.kind === "over"
        ? `see whether ${name} is evicted or its image has /usr/bin/python3`
        : "see whether nodes have room: kubectl describe pod";
  const problem = `the pod ${name} does not begin: ${why}; ${wayOut}`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}
