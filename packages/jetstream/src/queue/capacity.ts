import { Audience } from "@reeve/platform/async/audience";

/** Places that are taken and given back, by one taker or by several that share them. */
export class Capacity {
  readonly #most: number;
  readonly #waiting = new Audience();
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get most(): number {
    return this.#most;
  }

  get taken(): number {
    return this.#taken;
  }

  get free(): number {
    return this.#most - this.#taken;
  }

  /** Takes a place, unless another taker has just had the last one. What it returns gives it back, once. */
  tryTake(): (() => void) | undefined {
    return this.free > 0 ? this.take() : undefined;
  }

  /** Resolves when a place is free. */
  async waitForFree(signal: AbortSignal): Promise<void> {
    const freed = this.#waiting.join();
    try {
      while (this.free <= 0) await freed.wait(undefined, signal);
    } finally {
      this.#waiting.leave(freed);
    }
  }

  /** Takes a place. What it returns gives it back, once. */
  take(): () => void {
    this.#taken++;
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#taken--;
      this.#waiting.say();
    };
  }
}

/** So many places of one's own, or those that are shared. */
export function placesOf(places: number | Capacity): Capacity {
  return typeof places === "number" ? new Capacity(places) : places;
}
