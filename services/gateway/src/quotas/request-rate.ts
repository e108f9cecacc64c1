import type { Clock } from "@reeve/platform/async/clock";

/** How many counts are always kept. */
const minCounts = 10_000;
/** How many seconds of requests are accepted at once. */
const burstSeconds = 2;

interface Bucket {
  left: number;
  atMs: number;
}

/** Token buckets by name: each accepts a number of requests per second, and twice as many at once. */
export class RequestRate {
  readonly #clock: Pick<Clock, "now">;
  /** The number of counts at which those that are full again are dropped. */
  #maxCounts = minCounts;
  readonly #buckets = new Map<string, Bucket & { readonly perSecond: number }>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Takes a request. Returns 0, or after how many milliseconds the next one is accepted. */
  take(name: string, perSecond: number): number {
    const atMs = this.#clock.now();
    const left = this.#leftAt(name, perSecond, atMs);
    const isAccepted = left >= 1;
    this.#buckets.set(name, { left: isAccepted ? left - 1 : left, atMs, perSecond });
    if (this.#buckets.size > this.#maxCounts) this.#dropFull(atMs);
    return isAccepted ? 0 : Math.ceil(((1 - left) / perSecond) * 1_000);
  }

  #leftAt(name: string, perSecond: number, atMs: number): number {
    const max = Math.max(1, perSecond * burstSeconds);
    const known = this.#buckets.get(name);
    if (known === undefined) return max;
    return Math.min(max, known.left + ((atMs - known.atMs) / 1_000) * perSecond);
  }

  #dropFull(atMs: number): void {
    for (const [name, { perSecond }] of this.#buckets) {
      const max = Math.max(1, perSecond * burstSeconds);
      if (this.#leftAt(name, perSecond, atMs) >= max) this.#buckets.delete(name);
    }
    this.#maxCounts = Math.max(minCounts, this.#buckets.size * 2);
  }
}
