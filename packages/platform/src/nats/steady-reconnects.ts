import type { ConnectionOptions } from "@nats-io/transport-node";

const minPauseMs = 250;
const jitterMs = 250;

type Reconnects = Required<
  Pick<ConnectionOptions, "reconnectDelayHandler" | "reconnectToServer" | "maxReconnectAttempts">
>;

/**
 * Returns the options of a client of NATS that connects again forever, to any server that it knows, each at most every 250 to
 * 500 ms. The client itself measures this pause by the wall clock: after that clock was set back, it would wait until the clock
 * reaches the time of its last connection again.
 */
export function steadyReconnects(): Reconnects {
  const triedAt = new Map<string, number>();
  return {
    maxReconnectAttempts: -1,
    reconnectDelayHandler: () => Number.NEGATIVE_INFINITY,
    reconnectToServer: ([server]) => {
      if (server === undefined) return null;
      const now = performance.now();
      const pauseMs = minPauseMs + Math.random() * jitterMs;
      const delay = Math.max(
        0,
        (triedAt.get(server.listen) ?? Number.NEGATIVE_INFINITY) + pauseMs - now,
      );
      triedAt.set(server.listen, now + delay);
      return { server, delay };
    },
  };
}
