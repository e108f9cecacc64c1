import { Failure } from "../../failure.ts";
import type { RetryOptions } from "./retry.ts";
import { retry } from "./retry.ts";

/** `maxElapsedMs` of 0 makes one attempt. */
type Limits = Required<Pick<RetryOptions, "maxElapsedMs">> &
  Pick<RetryOptions, "clock" | "random"> & {
    /** Whether an error is thrown at once although its kind is `unavailable`. Default: none is. */
    readonly isFinal?: (error: unknown) => boolean;
  };

const backoff = { firstDelayMs: 50, maxDelayMs: 1_000, jitter: 0.5 };

/**
 * Runs `operation` until it succeeds, and again while it throws a Failure of kind `unavailable`, as a store that does not
 * answer causes it. Starts no attempt later than `maxElapsedMs` after the first. Throws any other error at once.
 */
export function retryUnavailable<Result>(
  operation: () => Promise<Result>,
  { isFinal = () => false, ...limits }: Limits,
  signal: AbortSignal,
): Promise<Result> {
  const isRetryable = (error: unknown) => isUnavailable(error) && !isFinal(error);
  return retry(operation, { ...limits, backoff, isRetryable }, signal);
}

function isUnavailable(error: unknown): boolean {
  return error instanceof Failure && error.kind === "unavailable";
}
