import { Notifier } from "@reeve/platform/async/coordination/notifier";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import type { Delivery, WorkQueue } from "./port.ts";

interface QueuedMessage<Message> {
  readonly message: Message;
  readonly sequence: number;
  attempt: number;
  /** Runs while a taker holds the message, until the ack-wait ends; and while a returned message is delayed. */
  timer: NodeJS.Timeout | undefined;
}

export interface MemoryWorkQueueOptions<Message> {
  /** Default: one second. */
  readonly ackWaitMs?: number;
  /** Returns to whom a message belongs. Takers serve all owners in turn. Default: all messages have one owner. */
  readonly ownerOf?: (message: Message) => string;
}

/** A queue in memory. When a taker stays silent for `ackWaitMs`, its message is delivered again. */
export class MemoryWorkQueue<Message> implements WorkQueue<Message> {
  /** Messages that are not acknowledged, by sequence. */
  readonly #queued = new Map<number, QueuedMessage<Message>>();
  readonly #published = new Map<string, number>();
  readonly #available = new Notifier();
  readonly #ackWaitMs: number;
  readonly #ownerOf: (message: Message) => string;
  /** Messages that no taker holds, by owner. The owner whose turn it is comes first. */
  readonly #waiting = new Map<string, QueuedMessage<Message>[]>();
  #sequence = 0;

  constructor({ ackWaitMs = 1_000, ownerOf = () => "" }: MemoryWorkQueueOptions<Message> = {}) {
    this.#ackWaitMs = ackWaitMs;
    this.#ownerOf = ownerOf;
  }

  /** How many messages are not acknowledged. */
  get unacknowledged(): number {
    return this.#queued.size;
  }

  /** How many messages no taker holds. */
  get length(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
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

  async *take(permits: number | Semaphore, signal: AbortSignal): AsyncIterable<Delivery<Message>> {
    const semaphore = typeof permits === "number" ? new Semaphore(permits) : permits;
    using available = this.#available.subscribe();
    for (;;) {
      await semaphore.untilAvailable(signal);
      signal.throwIfAborted();
      const next = this.#next();
      if (next === undefined) await available.wait(signal);
      else {
        const permit = semaphore.tryAcquire();
        if (permit === undefined) this.#offer(next);
        else yield this.#delivery(next, permit);
      }
    }
  }

  #delivery(queued: QueuedMessage<Message>, permit: Disposable): Delivery<Message> {
    const { message, sequence } = queued;
    const release = () => permit[Symbol.dispose]();
    const attempt = ++queued.attempt;
    this.#offerIn(this.#ackWaitMs, queued);
    // A message that waits again has no holder.
    const isHeld = () => queued.attempt === attempt && queued.timer !== undefined;
    return {
      message,
      sequence,
      attempt,
      extend: () => {
        if (isHeld()) this.#offerIn(this.#ackWaitMs, queued);
      },
      acknowledge: () => {
        release();
        if (!isHeld()) return;
        clearTimeout(queued.timer);
        this.#queued.delete(sequence);
      },
      returnToQueue: (delayMs) => {
        release();
        if (!isHeld()) return;
        if (delayMs > 0) this.#offerIn(delayMs, queued);
        else this.#offer(queued);
      },
      abandon: release,
    };
  }

  #offerIn(delayMs: number, queued: QueuedMessage<Message>): void {
    clearTimeout(queued.timer);
    queued.timer = setTimeout(() => this.#offer(queued), delayMs).unref();
  }

  #offer(queued: QueuedMessage<Message>): void {
    clearTimeout(queued.timer);
    queued.timer = undefined;
    if (!this.#queued.has(queued.sequence)) return;
    const owner = this.#ownerOf(queued.message);
    const waiting = this.#waiting.get(owner);
    if (waiting === undefined) this.#waiting.set(owner, [queued]);
    else waiting.push(queued);
    this.#available.notify();
  }

  #next(): QueuedMessage<Message> | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [owner, waiting] = first;
    const next = waiting.shift();
    this.#waiting.delete(owner);
    if (waiting.length > 0) this.#waiting.set(owner, waiting);
    return next;
  }
}
