import { Wakeup } from "./wakeup.ts";

/** A subscription to a notifier. It misses no notification between two waits. Disposing ends it. */
export type Subscription = Pick<Wakeup, "wait" | "waitFor"> & Disposable;

/** Wakes any number of waiting parties. */
export class Notifier {
  readonly #wakeups = new Set<Wakeup>();

  /** How many parties are subscribed. */
  get size(): number {
    return this.#wakeups.size;
  }

  notify(): void {
    for (const wakeup of this.#wakeups) wakeup.notify();
  }

  subscribe(): Subscription {
    const wakeup = new Wakeup();
    this.#wakeups.add(wakeup);
    return {
      wait: (signal) => wakeup.wait(signal),
      waitFor: (timeoutMs, signal) => wakeup.waitFor(timeoutMs, signal),
      [Symbol.dispose]: () => void this.#wakeups.delete(wakeup),
    };
  }
}
