import type { JsMsg } from "@nats-io/jetstream";
import type { Clock } from "@reeve/platform/async/clock";

/**
 * The messages that a reader has received and not settled, without those that it may process. One that ends returns them, because others would get them only after
 * the ack-wait. After it, the store delivers them again by itself, so none is held for longer.
 */
export class UnsettledMessages {
  /** With the time until which it is held, in the order of receipt. */
  readonly #messages = new Map<JsMsg, number>();
  readonly #ackWaitMs: number;
  readonly #clock: Pick<Clock, "now">;

  constructor(ackWaitMs: number, clock: Pick<Clock, "now">) {
    this.#ackWaitMs = ackWaitMs;
    this.#clock = clock;
  }

  add(message: JsMsg): void {
    const now = this.#clock.now();
    for (const [held, untilMs] of this.#messages) {
      if (untilMs > now) break;
      this.#messages.delete(held);
    }
    this.#messages.set(message, now + this.#ackWaitMs);
  }

  /** Adds what a stopped pull has received and nobody has taken. */
  async addRest(iterator: AsyncIterator<JsMsg>): Promise<void> {
    try {
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
        this.add(next.value);
      }
    } catch {
      // A pull that ended with its connection has nothing that could be returned.
    }
  }

  /** Leaves a message to the reader. */
  leave(message: JsMsg): void {
    this.#messages.delete(message);
  }

  acknowledge(message: JsMsg): void {
    this.#messages.delete(message);
    message.ack();
  }

  /** Has the store deliver a message again after a delay. */
  postpone(message: JsMsg, delayMs: number): void {
    this.#messages.delete(message);
    message.nak(delayMs);
  }

  /** Has the store deliver all of them now. The reader must not take messages any more: it would get them itself. */
  release(): void {
    for (const message of this.#messages.keys()) message.nak();
    this.#messages.clear();
  }
}
