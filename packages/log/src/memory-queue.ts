import { setTimeout as wait } from "node:timers/promises";
import { Capacity } from "./capacity.ts";
import { Signalled } from "./signalled.ts";
import type { Delivery, WorkQueue } from "./work-queue.ts";

interface Queued<Message> {
  readonly message: Message;
  readonly sequence: number;
  readonly attempt: number;
}

/** A queue in memory. A taker that falls silent keeps its message for `ackWaitMs`; then it is offered again. */
export class MemoryWorkQueue<Message> implements WorkQueue<Message> {
  readonly #waiting: Queued<Message>[] = [];
  readonly #published = new Set<string>();
  readonly #arrived = new Signalled();
  readonly #ackWaitMs: number;
  #sequence = 0;

  constructor({ ackWaitMs = 1_000 }: { readonly ackWaitMs?: number } = {}) {
    this.#ackWaitMs = ackWaitMs;
  }

  /** How many messages nobody has taken. */
  get length(): number {
    return this.#waiting.length;
  }

  async publish(
    message: Message,
    { dedupeId }: { readonly dedupeId: string },
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    await Promise.resolve();
    if (this.#published.has(dedupeId)) return;
    this.#published.add(dedupeId);
    this.#offer({ message, sequence: ++this.#sequence, attempt: 1 });
  }

  async *take(concurrency: number, signal: AbortSignal): AsyncIterable<Delivery<Message>> {
    const capacity = new Capacity(concurrency);
    for (;;) {
      await capacity.waitForFree(signal);
      const next = this.#waiting.shift();
      if (next === undefined) await this.#arrived.wait(undefined, signal);
      else yield this.#delivery(next, capacity.take());
    }
  }

  #delivery(queued: Queued<Message>, release: () => void): Delivery<Message> {
    const again = { ...queued, attempt: queued.attempt + 1 };
    let silence = setTimeout(() => this.#offer(again), this.#ackWaitMs).unref();
    const settle = () => {
      clearTimeout(silence);
      release();
    };
    return {
      ...queued,
      extend: () => {
        clearTimeout(silence);
        silence = setTimeout(() => this.#offer(again), this.#ackWaitMs).unref();
      },
      acknowledge: settle,
      giveBack: (delayMs) => {
        settle();
        if (delayMs === 0) this.#offer(again);
        else void wait(delayMs, undefined, { ref: false }).then(() => this.#offer(again));
      },
      forget: release,
    };
  }

  #offer(queued: Queued<Message>): void {
    this.#waiting.push(queued);
    this.#arrived.say();
  }
}
