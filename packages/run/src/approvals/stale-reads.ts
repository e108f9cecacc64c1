import type { Clock } from "@reeve/platform/async/clock";
import { steadyClock } from "@reeve/platform/async/clock";
import type { RetryOptions } from "@reeve/platform/async/retry/retry";
import { retry } from "@reeve/platform/async/retry/retry";
import type { RunHead } from "../head/run-head.ts";
import { isTerminal } from "../head/run-status.ts";
import { approvalNotFound } from "./approval-id.ts";

/**
 * How long a request searches for an approval that the log of an open run lacks: a server that is cut off from the others answers from
 * an older state until it finds that it no longer leads. Clients wait for an answer for 10 s by default.
 */
const staleReads = { firstDelayMs: 100, maxDelayMs: 2_000 };
const maxStaleMs = 8_000;

export interface StaleReadOptions {
  /** Default: monotonic time. */
  readonly steadyClock?: Clock;
  /** The time of that clock at which the search ends at the latest, for requests about several approvals. Default: as if it were alone. */
  readonly staleUntilMs?: number;
}

/** Returns the time at which the searches of a request that begins now end. */
export function staleDeadline({ steadyClock: clock = steadyClock }: StaleReadOptions): number {
  return clock.now() + maxStaleMs;
}

/** Thrown when the log of an open run, as it was read, lacks the approval. */
class MissingApproval extends Error {
  override readonly name = "MissingApproval";
}

/** Returns what to throw when a log lacks an approval: `searching` searches again if the run is open. */
export function missingApproval({ lastSequence, status }: RunHead, approvalId: string): Error {
  const isOpen = lastSequence > 0 && !isTerminal(status);
  return isOpen ? new MissingApproval() : approvalNotFound(approvalId);
}

/** Repeats an operation that misses an approval, until its deadline. Throws a Failure of kind `not_found` then. */
export async function searching<Result>(
  { steadyClock: clock = steadyClock, staleUntilMs = Infinity }: StaleReadOptions,
  approvalId: string,
  operation: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const limits: RetryOptions = {
    backoff: staleReads,
    maxElapsedMs: Math.max(0, Math.min(maxStaleMs, staleUntilMs - clock.now())),
    isRetryable: (error) => error instanceof MissingApproval,
    clock,
  };
  try {
    return await retry(operation, limits, signal);
  } catch (error) {
    throw error instanceof MissingApproval ? approvalNotFound(approvalId) : error;
  }
}
