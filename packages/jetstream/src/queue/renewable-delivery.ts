import type { Delivery } from "./port.ts";

/**
 * A delivery that continues as a later delivery of the same message to the same taker: the taker was silent for too long, and
 * still works on the message. The earlier delivery is then abandoned.
 */
export class RenewableDelivery<Message> implements Delivery<Message> {
  #current: Delivery<Message>;

  constructor(delivery: Delivery<Message>) {
    this.#current = delivery;
  }

  /** Continues as `delivery`, which replaces the current one. */
  renew(delivery: Delivery<Message>): void {
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
    this.#current.acknowledge();
  }

  returnToQueue(delayMs: number): void {
    this.#current.returnToQueue(delayMs);
  }

  abandon(): void {
    this.#current.abandon();
  }
}
