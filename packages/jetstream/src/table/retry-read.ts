import type { NatsConnection } from "@nats-io/transport-node";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { callStore } from "../streams/call-store.ts";

/** How long a read is retried while the store is unavailable. */
const maxRetryMs = 10_000;

/** Returns how long to retry reads over `connection`: not at all once it is closed. */
export function readRetryLimits(connection: NatsConnection): { readonly maxElapsedMs: number } {
  return { maxElapsedMs: connection.isClosed() ? 0 : maxRetryMs };
}

/**
 * Reads from the store, and retries while it is unavailable, as the logs do. When the connection is lost, aborts the signal that
 * `read` got before it retries. Does not retry over a closed connection.
 */
export function retryRead<Result>(
  connection: NatsConnection,
  read: (signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const state = connectionStateOf(connection);
  const readOnce = async () => {
    const end = new AbortController();
    const bounded = AbortSignal.any([signal, end.signal]);
    try {
      return await callStore(() => state.whileConnected(() => read(bounded)));
    } finally {
      end.abort(new DOMException("the read has ended", "AbortError"));
    }
  };
  return retryUnavailable(readOnce, readRetryLimits(connection), signal);
}
