import type { Delivery } from "./port.ts";

/**
 * A delivery that continues as a later delivery of the same message to the same taker: the taker was silent for too long, and
 * still works on the message.
 */
export class RenewableDelivery<Message> implements Delivery<Message> {
  #current: Delivery<Message>;
  #isSettled = false;

  constructor(delivery: Delivery<Message>) {
    this.#current = delivery;
  }

  /** Continues as `delivery`. Abandons the current one, or `delivery` if the message is settled. */
  renew(delivery: Delivery<Message>): void {
    if (this.#isSettled) return delivery.abandon();
    this.#current.abandon();
    this.#current = delivery;
  }

  get message(): Message {
    return this.#current.message;
  }

  get sequence(): number {
    return this.#current.sequence;
  }

  get attempt(): number {
    return this.#current.attempt;
  }

  get traceparent(): string {
    return this.#current.traceparent ?? "";
  }

  extend(): void {
    this.#current.extend();
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

  #settle(): Delivery<Message> {
    this.#isSettled = true;
    return this.#current;
  }
}
