import type { Clock } from "./clock.ts";
import { every } from "./every.ts";

const tickMs = 500;
/** Shorter gaps count as load. */
const minGapMs = 2_000;

/**
 * Measures how much time has passed on a clock without this process: while it was stopped, while its machine was suspended, or
 * because the clock was set forward. Pass the clock of the times that this time is subtracted from.
 */
export class StandstillMeter implements Disposable {
  readonly #clock: Pick<Clock, "now">;
  readonly #ticking: Disposable;
  #lastMs: number;
  #totalMs = 0;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
    this.#lastMs = clock.now();
    this.#ticking = every(tickMs, () => this.#tick());
  }

  /** The milliseconds that have passed in this way since the meter exists. */
  get totalMs(): number {
    // After a standstill, other work may run before the timer.
    this.#tick();
    return this.#totalMs;
  }

  #tick(): void {
    const now = this.#clock.now();
    const gapMs = now - this.#lastMs;
    this.#lastMs = now;
    if (gapMs >= minGapMs) this.#totalMs += gapMs - tickMs;
  }

  [Symbol.dispose](): void {
    this.#ticking[Symbol.dispose]();
  }
}
