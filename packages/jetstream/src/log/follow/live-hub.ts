import type { NatsConnection } from "@nats-io/transport-node";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import type { StoredBatch } from "../stored-batch.ts";
import { WrittenLogs } from "./written-logs.ts";

type Receive = (batch: StoredBatch) => void;

/**
 * Passes batches of logs from their writers to their followers in one process, so that the store need not republish them. A writer
 * passes a batch when the store has confirmed it. A batch whose confirmation was lost, and one of another process, is missing here:
 * a follower finds it in the store, after its next batch or after a quiet time.
 */
export class LiveHub {
  /** What the writers have stored of young logs. */
  readonly written = new WrittenLogs();
  readonly #receivers = new Map<string, Set<Receive>>();

  /** Receives the batches of the log with this live subject, until the returned object is disposed. */
  receive(liveSubject: string, receive: Receive): Disposable {
    const receivers = this.#receivers.get(liveSubject) ?? new Set();
    this.#receivers.set(liveSubject, receivers.add(receive));
    return {
      [Symbol.dispose]: () => {
        receivers.delete(receive);
        if (receivers.size === 0 && this.#receivers.get(liveSubject) === receivers) {
          this.#receivers.delete(liveSubject);
        }
      },
    };
  }

  /** Passes a stored batch to those that receive its log now. */
  pass(liveSubject: string, batch: StoredBatch): void {
    for (const receive of this.#receivers.get(liveSubject) ?? []) receive(batch);
  }
}

const hubs = new WeakMap<NatsConnection, LiveHub>();

/**
 * Says that these connections are the only ones that write logs. What one of them stores, followers get without a subscription, and
 * their first read of a young log needs no request.
 */
export function shareLiveBatches(connections: readonly NatsConnection[]): void {
  const hub = new LiveHub();
  for (const connection of connections) {
    hubs.set(connection, hub);
    connectionStateOf(connection).onChange(() => hub.written.clear());
  }
}

/** Returns the hub of a connection. Undefined: other processes write logs, too. */
export function liveHubOf(connection: NatsConnection): LiveHub | undefined {
  return hubs.get(connection);
}
