import type { NatsConnection } from "@nats-io/transport-node";
import { storeUnavailable } from "./store-unavailable.ts";

const states = new WeakMap<NatsConnection, ConnectionState>();

/** Returns the state of a connection. All callers share one object. */
export function connectionStateOf(connection: NatsConnection): ConnectionState {
  const known = states.get(connection);
  if (known !== undefined) return known;
  const state = new ConnectionState(connection);
  states.set(connection, state);
  return state;
}

/**
 * Tracks whether a connection reaches its server. While it does not, the NATS client drops messages that are published, and
 * lets requests run into their timeout; a caller that watches the state can fail or retry at once.
 */
export class ConnectionState {
  readonly #listeners = new Set<(isUp: boolean) => void>();
  #isUp = true;
  /** In monotonic time. */
  #changedAtMs = performance.now();

  constructor(connection: NatsConnection) {
    void this.#watch(connection);
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** How long the connection has been up without interruption, in milliseconds. 0: it is lost. */
  get upForMs(): number {
    return this.#isUp ? performance.now() - this.#changedAtMs : 0;
  }

  /** Calls `listener` on every change. The returned function removes it. */
  onChange(listener: (isUp: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Runs `operation`. Throws a Failure of kind `unavailable` as soon as the connection is lost. */
  async whileConnected<Result>(operation: () => Promise<Result>): Promise<Result> {
    if (!this.#isUp) throw storeUnavailable();
    const { promise: lost, reject } = Promise.withResolvers<never>();
    const removeListener = this.onChange(() => reject(storeUnavailable()));
    try {
      return await Promise.race([operation(), lost]);
    } finally {
      removeListener();
    }
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === "disconnect") this.#change(false);
      else if (type === "reconnect") this.#change(true);
    }
    this.#change(false);
  }

  #change(isUp: boolean): void {
    if (isUp === this.#isUp) return;
    this.#isUp = isUp;
    this.#changedAtMs = performance.now();
    for (const listener of this.#listeners) listener(isUp);
  }
}
