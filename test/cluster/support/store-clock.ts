import { setTimeout as wait } from "node:timers/promises";
import type { Nats } from "@reeve/platform/nats/connect-nats";

/** The streams without which no run continues. */
const streams = ["RUNS", "DISPATCH", "TOOL_CALLS", "TOOL_JOURNAL"];
const pauseMs = 250;
const answerMs = 1_000;

/**
 * A clock that stands still while the store does: while no server has, for each stream that a run needs, a leader that a majority
 * follows. It is right to about a second.
 */
export class StoreClock implements AsyncDisposable {
  readonly #connections: readonly Nats[];
  readonly #end = new AbortController();
  readonly #running: Promise<void>;
  #elapsedMs = 0;
  #measurement = Promise.withResolvers<void>();

  /** `connections`: one for each server, so that a server that is cut off does not count as the store. */
  constructor(connections: readonly Nats[]) {
    this.#connections = connections;
    this.#running = this.#run(this.#end.signal);
  }

  /** Returns the time during which the store answered, in milliseconds since the clock was started. */
  readonly now = (): number => this.#elapsedMs;

  /** Resolves at the end of the measurement in progress. */
  async measured(): Promise<void> {
    await this.#measurement.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    let lastMs = performance.now();
    while (!signal.aborted) {
      const answers = await Promise.all(this.#connections.map(doStreamsAnswer));
      const nowMs = performance.now();
      if (answers.includes(true)) this.#elapsedMs += nowMs - lastMs;
      lastMs = nowMs;
      this.#measurement.resolve();
      this.#measurement = Promise.withResolvers();
      await wait(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Whether a majority of the servers agrees on a request for each stream, which changes nothing: a purge of an unused subject. */
async function doStreamsAnswer({ connection }: Nats): Promise<boolean> {
  const purge = JSON.stringify({ filter: "settle", keep: 1 });
  const agreed = streams.map(async (stream) => {
    const reply = await connection.request(`$JS.API.STREAM.PURGE.${stream}`, purge, {
      timeout: answerMs,
    });
    return reply.json<{ readonly error?: unknown }>().error === undefined;
  });
  return await Promise.all(agreed).then(
    (each) => each.every(Boolean),
    () => false,
  );
}
