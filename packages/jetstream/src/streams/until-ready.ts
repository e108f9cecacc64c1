import { JetStreamApiError } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { errors } from "@nats-io/transport-node";
import type { RetryOptions } from "@reeve/platform/async/retry/retry";
import { Failure } from "@reeve/platform/failure";
import { isClusterIncomplete, isForbidden, storeFailure } from "./errors.ts";

/** How long a server that answers without JetStream, or refuses a stream, is asked again. */
const maxOpenMs = 10_000;
/** How long a cluster without a leader is waited for. It elects one as soon as the majority of its servers run. */
export const maxElectionMs = 120_000;
export const retryMs = 250;

/**
 * Retries `isRetryable` errors for about 10 s. Retries for 2 min while a cluster has no leader, and while another process has
 * yet to create what this one may not create.
 */
export function untilReady(
  connection: NatsConnection,
  isRetryable: (error: unknown) => boolean,
): RetryOptions {
  const startedAt = performance.now();
  return {
    backoff: { firstDelayMs: retryMs, maxDelayMs: retryMs },
    maxElapsedMs: maxElectionMs,
    isRetryable: (error) =>
      !connection.isClosed() &&
      (lacksLeader(error) ||
        isForbidden(error) ||
        (isRetryable(error) && performance.now() - startedAt < maxOpenMs)),
  };
}

/** Returns whether an error says that the store did not answer, and not that it refused a request. */
export function isUnanswered(error: unknown): boolean {
  return !(error instanceof JetStreamApiError) && storeFailure(error).kind === "unavailable";
}

/** Returns whether an error says that a cluster has no leader: it leaves a request unanswered, or lacks servers. */
export function lacksLeader(error: unknown): boolean {
  if (error instanceof Failure) return lacksLeader(error.cause);
  return error instanceof errors.TimeoutError || isClusterIncomplete(error);
}
