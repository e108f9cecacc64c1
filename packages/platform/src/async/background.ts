import type { Logger } from "../telemetry/logger.ts";
import { sleep } from "./sleep.ts";
import { TaskSet } from "./task-set.ts";

/** The delay before work that threw is restarted. */
const restartDelayMs = 1_000;

/** Runs a service's work outside of requests. Disposing it aborts the work and waits for it. */
export class Background implements AsyncDisposable {
  /** Aborts when the work has to end. */
  readonly signal: AbortSignal;
  readonly #log: Logger;
  readonly #end = new AbortController();
  readonly #tasks = new TaskSet();

  constructor(log: Logger, signal: AbortSignal) {
    this.#log = log;
    this.signal = AbortSignal.any([signal, this.#end.signal]);
  }

  /** Runs `work`, and again whenever it returns or throws, until the signal aborts. After an error it waits a second. */
  run(work: (signal: AbortSignal) => Promise<void>): void {
    void this.#tasks.add(this.#run(work));
  }

  async #run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    while (!this.signal.aborted) {
      try {
        await work(this.signal);
      } catch (error) {
        if (this.signal.aborted) return;
        this.#log.warn({ err: error }, "background work threw; restarting it");
        await sleep(restartDelayMs, this.signal).catch(() => undefined);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new DOMException("the service is shutting down", "AbortError"));
    await this.#tasks.settled();
  }
}
