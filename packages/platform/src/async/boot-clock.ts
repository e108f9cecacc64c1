import { uptime } from "node:os";
import type { Clock } from "./clock.ts";
import { sleep } from "./sleep.ts";

/** The sources of a boot clock, in milliseconds. */
export interface BootTimeSources {
  /** Never jumps, and may stand still while the machine is suspended. */
  steady(): number;
  /** Jumps forward when the machine resumes, and whenever somebody sets it. */
  wall(): number;
  /** Time since the machine started, including suspension. Expensive to read. */
  uptime(): number;
}

/** How far the wall clock may move against the steady clock before the uptime is read again. */
const maxDriftMs = 50;

/**
 * Time since the machine started, including the time for which it was suspended. Never jumps back, and does not follow changes
 * of the wall clock: those only make it read the uptime again.
 */
export class BootClock implements Clock {
  readonly #sources: BootTimeSources;
  /** What the uptime is ahead of the steady clock. */
  #aheadMs = -Infinity;
  #driftMs = Infinity;

  constructor(sources: BootTimeSources) {
    this.#sources = sources;
  }

  now(): number {
    const { steady, wall, uptime } = this.#sources;
    const steadyMs = steady();
    const driftMs = wall() - steadyMs;
    if (Math.abs(driftMs - this.#driftMs) > maxDriftMs) {
      this.#driftMs = driftMs;
      this.#aheadMs = Math.max(this.#aheadMs, uptime() - steadyMs);
    }
    return steadyMs + this.#aheadMs;
  }

  async sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    await sleep(delayMs, signal);
  }
}

/** The boot clock of this machine. Use it for leases, which lapse while the machine is suspended. */
export const bootClock = new BootClock({
  steady: () => performance.now(),
  wall: () => Date.now(),
  uptime: () => uptime() * 1_000,
});
