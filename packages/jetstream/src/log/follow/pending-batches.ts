import { setImmediate as otherWork } from "node:timers/promises";
import type { EventRange, LogPart, Tail } from "../port.ts";
import { emptyTail, maxFollowedBytes } from "../port.ts";
import type { StoredBatch } from "../stored-batch.ts";

/** Batches as they are stored: the first ones of a longer range. */
export interface BatchPart {
  readonly batches: readonly StoredBatch[];
  /** The position that they follow. */
  readonly after: Tail;
  /** Whether they reach the end of the log. */
  readonly isComplete: boolean;
  /** Whether nothing is stored, although the reader has read something before. */
  readonly isGone?: boolean;
}

/** What `PendingBatches` needs of a log. */
export interface PendingSource<Event> {
  /** Reads what is stored after the position to follow from, or a first part of it. */
  readFirst(): Promise<BatchPart>;
  read(tail: Tail): Promise<BatchPart>;
  /** Returns the events of consecutive batches that come after `tail`. */
  rangeOf(tail: Tail, batches: readonly StoredBatch[]): Promise<EventRange<Event>>;
}

/**
 * What a follower has read and not yet yielded. It is held as it is stored, and decoded in portions: decoded events take many
 * times the memory, and a reader may be slow or read nothing.
 */
export class PendingBatches<Event> {
  readonly #source: PendingSource<Event>;
  #part: BatchPart = { batches: [], after: emptyTail, isComplete: false };
  #hasBegun = false;
  /** Whether a portion of the batches was decoded before. */
  #isRest = false;

  constructor(source: PendingSource<Event>) {
    this.#source = source;
  }

  get isEmpty(): boolean {
    return this.#part.batches.length === 0;
  }

  /** Adds batches that follow `after`. The caller has yielded all others. */
  add(after: Tail, batches: readonly StoredBatch[]): void {
    this.#part = { batches, after, isComplete: true };
  }

  /**
   * Returns the events of the next portion. Reads the store after `cursor` if there is none. Other work of the process runs between two. After a failure, the next call reads
   * the store.
   */
  async next(cursor: Tail): Promise<LogPart<Event>> {
    // A portion takes a few milliseconds to decode.
    if (this.#isRest) await otherWork();
    const { batches, ...part } = this.isEmpty ? await this.#read(cursor) : this.#part;
    const length = portionLength(batches);
    this.#part = { ...part, batches: [] };
    const range = await this.#source.rangeOf(part.after, batches.slice(0, length));
    this.#hasBegun = true;
    this.#part = { ...part, after: range.tail, batches: batches.slice(length) };
    this.#isRest = !this.isEmpty;
    const { isComplete, isGone = false } = part;
    return { ...range, isComplete: isComplete && this.isEmpty, isGone };
  }

  async #read(cursor: Tail): Promise<BatchPart> {
    return await (this.#hasBegun ? this.#source.read(cursor) : this.#source.readFirst());
  }
}

/** Returns how many of the batches are decoded at a time: at least one. */
function portionLength(batches: readonly StoredBatch[]): number {
  let bytes = 0;
  const last = batches.findIndex(({ data }) => (bytes += data.length) >= maxFollowedBytes);
  return last === -1 ? batches.length : last + 1;
}
