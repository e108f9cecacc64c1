import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "../telemetry/logger.ts";

/** How long work rests that broke off before it is done again. */
const retryMs = 1_000;

/** Work beside the requests of a service. It ends when its owner is disposed, also when the owner never came to be. */
export class Background implements AsyncDisposable {
  /** Aborts when the work is to end. */
  readonly signal: AbortSignal;
  readonly #log: Logger;
  readonly #end = new AbortController();
  readonly #working = new Set<Promise<void>>();

  constructor(log: Logger, signal: AbortSignal) {
    this.#log = log;
    this.signal = AbortSignal.any([signal, this.#end.signal]);
  }

  /** Does `work` until it ends or is to end, and again whenever it breaks off. */
  run(work: (signal: AbortSignal) => Promise<void>): void {
    const working = this.#keep(work).finally(() => this.#working.delete(working));
    this.#working.add(working);
  }

  async #keep(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    while (!this.signal.aborted) {
      try {
        await work(this.signal);
      } catch (error) {
        if (this.signal.aborted) return;
        this.#log.warn({ err: error }, "background work broke off; going on");
        await wait(retryMs, undefined, { signal: this.signal }).catch(() => undefined);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new DOMException("the service ends", "AbortError"));
    await Promise.allSettled(this.#working);
  }
}
