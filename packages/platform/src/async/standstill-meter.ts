import type { Clock } from "./clock.ts";
import { every } from "./every.ts";

const tickMs = 500;
/** Shorter gaps count as load. */
const minGapMs = 2_000;

/**
 * Measures for how long this process has stood still: stopped, or on a suspended machine. Its clock has to count the time of a
 * suspended machine.
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

  /** The milliseconds for which the process has stood still since the meter exists. */
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
