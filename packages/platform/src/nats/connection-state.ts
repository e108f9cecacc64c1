import type { NatsConnection } from "@nats-io/transport-node";
import { storeUnavailable } from "./store-unavailable.ts";

const states = new WeakMap<NatsConnection, ConnectionState>();

/** The state of a connection; one for all that use it. */
export function connectionStateOf(connection: NatsConnection): ConnectionState {
  const known = states.get(connection);
  if (known !== undefined) return known;
  const state = new ConnectionState(connection);
  states.set(connection, state);
  return state;
}

/**
 * Whether a connection reaches its server. The client drops what is published while it does not, and lets what was asked
 * before run into its time-out: whoever knows better asks again at once.
 */
export class ConnectionState {
  readonly #listeners = new Set<(isUp: boolean) => void>();
  #isUp = true;

  constructor(connection: NatsConnection) {
    void this.#watch(connection);
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Calls `listener` at every change. What it returns ends that. */
  onChange(listener: (isUp: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The answer to a question; a Failure of kind `unavailable` as soon as the connection is lost. */
  async whileConnected<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    if (!this.#isUp) throw storeUnavailable();
    const { promise: lost, reject } = Promise.withResolvers<never>();
    const forget = this.onChange(() => reject(storeUnavailable()));
    try {
      return await Promise.race([ask(), lost]);
    } finally {
      forget();
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
    for (const listener of this.#listeners) listener(isUp);
  }
}
