import { Audience } from "@reeve/platform/async/audience";
import { placesOf } from "./capacity.ts";
import type { Capacity } from "./capacity.ts";
import type { Delivery, WorkQueue } from "./port.ts";

interface Queued<Message> {
  readonly message: Message;
  readonly sequence: number;
  attempt: number;
  /** Runs while a taker has the message: until it counts as silent, or until what was given back is due. */
  timer: NodeJS.Timeout | undefined;
}

/** A queue in memory. A taker that falls silent keeps its message for `ackWaitMs`; then it is offered again. */
export class MemoryWorkQueue<Message> implements WorkQueue<Message> {
  /** What is not acknowledged, by sequence. */
  readonly #queued = new Map<number, Queued<Message>>();
  readonly #published = new Map<string, number>();
  readonly #offered = new Audience();
  readonly #ackWaitMs: number;
  #waiting: Queued<Message>[] = [];
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
  ): Promise<number> {
    signal.throwIfAborted();
    await Promise.resolve();
    const first = this.#published.get(dedupeId);
    if (first !== undefined) return first;
    const queued = { message, sequence: ++this.#sequence, attempt: 0, timer: undefined };
    this.#published.set(dedupeId, queued.sequence);
    this.#queued.set(queued.sequence, queued);
    this.#offer(queued);
    return queued.sequence;
  }

  async holds(sequence: number, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    await Promise.resolve();
    return this.#queued.has(sequence);
  }

  async *take(places: number | Capacity, signal: AbortSignal): AsyncIterable<Delivery<Message>> {
    const capacity = placesOf(places);
    const offered = this.#offered.join();
    try {
      for (;;) {
        await capacity.waitForFree(signal);
        signal.throwIfAborted();
        const next = this.#waiting.shift();
        if (next === undefined) await offered.wait(undefined, signal);
        else {
          const release = capacity.tryTake();
          if (release === undefined) this.#offer(next);
          else yield this.#delivery(next, release);
        }
      }
    } finally {
      this.#offered.leave(offered);
    }
  }

  #delivery(queued: Queued<Message>, release: () => void): Delivery<Message> {
    const { message, sequence } = queued;
    queued.attempt++;
    this.#offerIn(this.#ackWaitMs, queued);
    return {
      message,
      sequence,
      attempt: queued.attempt,
      extend: () => {
        // As JetStream has it: whoever holds the message may extend it; one that waits again is not held.
        if (queued.timer !== undefined) this.#offerIn(this.#ackWaitMs, queued);
      },
      acknowledge: () => {
        release();
        clearTimeout(queued.timer);
        this.#queued.delete(sequence);
        this.#waiting = this.#waiting.filter((waiting) => waiting !== queued);
      },
      returnToQueue: (delayMs) => {
        release();
        if (queued.timer === undefined) return;
        if (delayMs > 0) this.#offerIn(delayMs, queued);
        else this.#offer(queued);
      },
      abandon: release,
    };
  }

  #offerIn(delayMs: number, queued: Queued<Message>): void {
    clearTimeout(queued.timer);
    queued.timer = setTimeout(() => this.#offer(queued), delayMs).unref();
  }

  #offer(queued: Queued<Message>): void {
    clearTimeout(queued.timer);
    queued.timer = undefined;
    if (!this.#queued.has(queued.sequence)) return;
    this.#waiting.push(queued);
    this.#offered.say();
  }
}
