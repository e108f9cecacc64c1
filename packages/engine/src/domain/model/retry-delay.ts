import { durationMs } from "@bufbuild/protobuf/wkt";
import { retryTimes } from "@reeve/agent/spec/retry-policy";
import type { RetryTimes } from "@reeve/agent/spec/retry-policy";
import { reachedProvider } from "@reeve/run/head/reached-provider";
import { maxAttempts } from "../budget/limits.ts";
import { workingAgent } from "../delegates/working-agent.ts";
import type { Frame, ModelCall } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";

/** A failure of a model call that just happened. */
export interface NewFailure {
  readonly reason: string;
  readonly retryable: boolean;
  /** The delay that the provider asks for. */
  readonly retryAfterMs: number | undefined;
}

/** A provider that keeps sending broken answers is paid for each of them, and is not expected to recover. */
const maxMalformedAttempts = 4;

/** The attempts to find a missing provider have no limit, so they never follow each other faster, whatever the policy says. */
const minMissingDelayMs = 1_000;

/**
 * Returns the delay before the attempt after `call`, which fails at `nowMs`, by the retry policy of its agent. Undefined: no
 * attempt follows. A delay that the provider asks for wins over a shorter one. The random part of the delay is the same
 * each time, because it derives from the run and the call.
 */
export function delayAfterFailure(
  state: RunState,
  { frame, call }: { readonly frame: Frame; readonly call: ModelCall },
  failure: NewFailure,
  nowMs: number,
): number | undefined {
  const { retryable, retryAfterMs: requestedMs, reason } = failure;
  if (!retryable) return undefined;
  const failures = call.failures + 1;
  const policy = workingAgent(state, frame).prepared?.retry;
  if (policy === undefined) {
    return failures < maxAttempts ? delayWithoutPolicy(failures, requestedMs) : undefined;
  }
  const times = retryTimes(policy);
  const random = fractionOf(`${state.head.runId}:${call.sequence}`);
  const delayMs = jittered(times, { failures, requestedMs, random });
  // A provider that no worker has is a matter of the deployment: the run waits until it is there, or is cancelled.
  if (reason === "not_configured") return Math.max(delayMs, minMissingDelayMs);
  if (reachedProvider(failure) && call.providerFailures + 1 > times.maxRetries) return undefined;
  if (reason === "malformed" && call.malformedAnswers + 1 >= maxMalformedAttempts) return undefined;
  const leftMs = times.maxElapsedMs - Math.max(0, nowMs - (call.firstFailedAtMs ?? nowMs));
  if (leftMs <= 0) return undefined;
  if (delayMs <= leftMs) return delayMs;
  // The last attempt is made at the end of the time, unless the provider asks not to.
  return requestedMs === undefined || requestedMs <= leftMs ? leftMs : undefined;
}

interface Attempted {
  readonly failures: number;
  readonly requestedMs: number | undefined;
  /** From 0 to less than 1. */
  readonly random: number;
}

/** Runs that failed together must not come back together. */
function jittered(times: RetryTimes, { failures, requestedMs, random }: Attempted): number {
  const { initialBackoffMs, maxBackoffMs } = times;
  const backoffMs = Math.min(initialBackoffMs * 2 ** Math.min(failures - 1, 40), maxBackoffMs);
  const halfMs = backoffMs / 2;
  if (requestedMs === undefined || requestedMs < halfMs) return Math.ceil(halfMs + random * halfMs);
  return Math.ceil(requestedMs + random * Math.min(backoffMs, requestedMs) * 0.5);
}

/** Returns a number from 0 to less than 1 that depends on `text` only: FNV-1a, with its bits mixed. */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** Whether another attempt follows the failed `call`. */
export function isRepeated({ status, failures }: ModelCall): boolean {
  if (typeof status === "string") return false;
  const { attempt, retryDelay, retryable } = status;
  // A version that recorded no delay wrote the failure.
  return attempt > 0 ? retryDelay !== undefined : retryable && failures < maxAttempts;
}

/** Returns the delay before the attempt after `call`; undefined if it has not failed, or a recorded policy ends the attempts. */
export function retryDelayMs(call: ModelCall): number | undefined {
  if (typeof call.status === "string") return undefined;
  const { attempt, retryDelay, retryAfter } = call.status;
  if (attempt > 0) return retryDelay === undefined ? undefined : durationMs(retryDelay);
  const requestedMs = retryAfter === undefined ? undefined : durationMs(retryAfter);
  return delayWithoutPolicy(call.failures, requestedMs);
}

/** Whether the run waits for the provider of `call`, by the policy that is recorded with the run. */
export function waitsForProvider(call: ModelCall): boolean {
  return typeof call.status !== "string" && call.status.attempt > 0 && isRepeated(call);
}

function delayWithoutPolicy(failures: number, requestedMs: number | undefined): number {
  if (requestedMs !== undefined) return Math.min(requestedMs, 300_000);
  return Math.min(500 * 2 ** (failures - 1), 30_000);
}
