import type { ConnectionState } from "./connection-state.ts";
import { sleep } from "../async/sleep.ts";
import { storeUnavailable } from "./store-unavailable.ts";

/** The time without a reply after which a host counts as silent, and the interval between requests. */
const defaultTimeout = { timeoutMs: 4_000, intervalMs: 250 };
/** One request without retries, for a host that was silent a moment ago. */
export const singleAttempt = { timeoutMs: 0, intervalMs: 250 };

/**
 * Repeats `request` until it has a reply. Returns undefined after four seconds without one, during which this process was
 * connected without interruption; that is long enough for a peer to reconnect. Throws a Failure of kind `unavailable` if
 * this process loses its own connection, because it then cannot tell who is silent.
 */
export async function pollUntilReply<Reply>(
  request: () => Promise<Reply | undefined>,
  state: Pick<ConnectionState, "isUp" | "onChange">,
  signal: AbortSignal,
  { timeoutMs, intervalMs } = defaultTimeout,
): Promise<Reply | undefined> {
  const connection = new AbortController();
  const lose = () => connection.abort(storeUnavailable());
  if (!state.isUp) lose();
  const removeListener = state.onChange(lose);
  const until = AbortSignal.any([signal, connection.signal]);
  const startedAt = performance.now();
  try {
    for (;;) {
      until.throwIfAborted();
      const reply = await request();
      if (reply !== undefined) return reply;
      // Again: a connection that was lost during the request is no silence of the peer.
      until.throwIfAborted();
      if (performance.now() - startedAt >= timeoutMs) return undefined;
      await sleep(intervalMs, until);
    }
  } finally {
    removeListener();
  }
}
