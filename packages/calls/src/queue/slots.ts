import { Capacity } from "@reeve/jetstream/queue/capacity";
import type { Delivery } from "@reeve/jetstream/queue/port";

/** The places of a toolhost for calls, from whatever queue they come, and the calls that are in them. */
export class Slots {
  readonly capacity: Capacity;
  readonly #underWay = new Map<number, Promise<void>>();

  constructor(most: number) {
    this.capacity = new Capacity(most);
  }

  /** Does something with a delivery. One that is in hand already is forgotten, and goes on as it does. */
  begin(delivery: Pick<Delivery<unknown>, "sequence" | "abandon">, work: () => Promise<void>): void {
    // A message is redelivered to ourselves when this process was paused for long: the call still runs, nothing is lost.
    if (this.#underWay.has(delivery.sequence)) return delivery.abandon();
    const working = work().finally(() => this.#underWay.delete(delivery.sequence));
    this.#underWay.set(delivery.sequence, working);
  }

  /** Resolves when nothing is in hand any more. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay.values());
  }
}
