import type { Progress } from "@reeve/calls/ports/tool";
import { sleep } from "@reeve/platform/async/sleep";
import { LastLines } from "./last-lines.ts";

/** Waits between two reports of a command that has run for `elapsedMs`. Rejects when `signal` aborts. */
export type Pause = (elapsedMs: number, signal: AbortSignal) => Promise<void>;

const minPauseMs = 250;
/** A long-running command reports less and less often, so that it never sends more than a few hundred reports. */
const pausesPerLifetime = 100;

/**
 * Reports how many bytes a command has written, and its last lines. However much it writes, there is one report per pause; a
 * command that ends within the first pause reports nothing.
 */
export class OutputProgress implements Disposable {
  readonly #report: (progress: Progress) => void;
  readonly #pause: Pause;
  readonly #lines = new LastLines();
  readonly #end = new AbortController();
  readonly #startedMs = performance.now();
  #isReporting = false;
  #isStale = false;

  constructor(report: (progress: Progress) => void, pause: Pause) {
    this.#report = report;
    this.#pause = pause;
  }

  add(bytes: Uint8Array): void {
    this.#lines.add(bytes);
    this.#isStale = true;
    if (!this.#isReporting) void this.#reportChanges(this.#end.signal);
  }

  [Symbol.dispose](): void {
    this.#end.abort(new DOMException("the command has ended", "AbortError"));
  }

  async #reportChanges(signal: AbortSignal): Promise<void> {
    this.#isReporting = true;
    try {
      while (this.#isStale) {
        await this.#pause(performance.now() - this.#startedMs, signal);
        if (signal.aborted) return;
        this.#isStale = false;
        const message = this.#lines.text() || `${this.#lines.total} bytes`;
        this.#report({ progress: this.#lines.total, message });
      }
    } catch {
      // The command has ended. Progress is never worth a failure.
    } finally {
      this.#isReporting = false;
    }
  }
}

/** At least 250 ms, and 1 % of the time that the command has run. */
export async function growingPause(elapsedMs: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(minPauseMs, elapsedMs / pausesPerLifetime), signal);
}
