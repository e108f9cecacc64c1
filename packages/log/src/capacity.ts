import { Signalled } from "./signalled.ts";

/** Places that are taken and given back. */
export class Capacity {
  readonly #most: number;
  readonly #freed = new Signalled();
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get free(): number {
    return this.#most - this.#taken;
  }

  /** Resolves when a place is free. */
  async waitForFree(signal: AbortSignal): Promise<void> {
    while (this.free <= 0) await this.#freed.wait(undefined, signal);
  }

  /** Takes a place. What it returns gives it back, once. */
  take(): () => void {
    this.#taken++;
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#taken--;
      this.#freed.say();
    };
  }
}
