import type { NatsConnection } from "@nats-io/transport-node";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { patiently } from "@reeve/platform/async/patiently";
import { callStore } from "../streams/call-store.ts";

/** How long a read waits for a store that is away. */
export const maxRetryMs = 10_000;

/**
 * Reads from the store, and reads again while it is away, as the logs do. What a lost connection interrupts is ended by the
 * signal that `read` is given, before it is done again. A connection that was closed is not waited for.
 */
export function retryRead<Answer>(
  connection: NatsConnection,
  read: (signal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  const state = connectionStateOf(connection);
  const once = async () => {
    const end = new AbortController();
    const bounded = AbortSignal.any([signal, end.signal]);
    try {
      return await callStore(() => state.whileConnected(() => read(bounded)));
    } finally {
      end.abort(new DOMException("the read is over", "AbortError"));
    }
  };
  return patiently(once, connection.isClosed() ? 0 : maxRetryMs, signal);
}
