import type { CallDelivery } from "./forward-call.ts";

/**
 * A message that this host holds, settled once. When the queue delivers it again to this host, because the host was silent, the
 * latest delivery takes the place of the one before it.
 */
export class HeldDelivery implements CallDelivery {
  readonly message: CallDelivery["message"];
  readonly sequence: number;
  readonly attempt: number;
  readonly traceparent: string;
  readonly hops: number;
  #latest: CallDelivery;
  #isSettled = false;

  constructor(delivery: CallDelivery) {
    const { message, sequence, attempt, traceparent = "", hops = 0 } = delivery;
    this.message = message;
    this.sequence = sequence;
    this.attempt = attempt;
    this.traceparent = traceparent;
    this.hops = hops;
    this.#latest = delivery;
  }

  /** Continues with another delivery of the same message. */
  renew(delivery: CallDelivery): void {
    if (this.#isSettled) return delivery.abandon();
    this.#latest.abandon();
    this.#latest = delivery;
  }

  extend(): void {
    this.#latest.extend();
  }

  acknowledge(): void {
    this.#settle().acknowledge();
  }

  returnToQueue(delayMs: number): void {
    this.#settle().returnToQueue(delayMs);
  }

  abandon(): void {
    this.#settle().abandon();
  }

  #settle(): CallDelivery {
    this.#isSettled = true;
    return this.#latest;
  }
}
