import type { Delivery } from "@reeve/jetstream/queue/port";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";

/** The slots of a toolhost for calls, whichever queue they come from, and the calls in progress. */
export class Slots {
  readonly capacity: Semaphore;
  readonly #inProgress = new Map<number, Promise<void>>();

  constructor(max: number) {
    this.capacity = new Semaphore(max);
  }

  /** How many slots are in use. */
  get busy(): number {
    return this.capacity.permits - this.capacity.available;
  }

  /** Starts work on a delivery. A delivery that is already in progress is forgotten, and its work continues. */
  begin(
    delivery: Pick<Delivery<unknown>, "sequence" | "abandon">,
    work: () => Promise<void>,
  ): void {
    // A message is redelivered to this host when the process was paused for long. The call still runs, so nothing is lost.
    if (this.#inProgress.has(delivery.sequence)) return delivery.abandon();
    const working = work().finally(() => this.#inProgress.delete(delivery.sequence));
    this.#inProgress.set(delivery.sequence, working);
  }

  /** Resolves when the calls that are in progress now have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#inProgress.values());
  }
}
