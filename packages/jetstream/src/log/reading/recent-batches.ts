import type { StoredBatch } from "../stored-batch.ts";
import { bytesOf } from "./batch-size.ts";

/** How much is held, in bytes. */
const maxHeldBytes = 1024 * 1024;

/**
 * The batches that this process appended last, so that it does not read back what it has just written, and the first ones of logs that
 * it has read. The store never changes a message, so one of these is as good as the stored one when a later batch of its log names it as
 * the one before. Bounded by size.
 */
export class RecentBatches {
  /** By revision, the oldest first. */
  readonly #batches = new Map<number, RecentBatch>();
  #bytes = 0;

  add(batch: RecentBatch): void {
    this.#forget(batch.revision);
    this.#batches.set(batch.revision, batch);
    this.#bytes += bytesOf(batch);
    for (const revision of this.#batches.keys()) {
      if (this.#bytes <= maxHeldBytes) return;
      this.#forget(revision);
    }
  }

  /** Returns the batches of a subject after a sequence and before the last one, if all of them are held and take at most `maxBytes`. */
  between(
    subject: string,
    { after, last, maxBytes }: RecentRange,
  ): readonly StoredBatch[] | undefined {
    const batches: StoredBatch[] = [];
    let bytes = 0;
    let next = last;
    while (next.first > after.sequence + 1) {
      const previous = this.#batches.get(next.previousRevision);
      if (previous?.subject !== subject || previous.last !== next.first - 1) return undefined;
      bytes += previous.data.length;
      if (bytes > maxBytes) return undefined;
      batches.push(previous);
      next = previous;
    }
    return batches.toReversed();
  }

  /**
   * Forgets everything: a store that comes back may have lost its end, and uses its revisions again. Returns whether there was
   * anything.
   */
  clear(): boolean {
    const isHeld = this.#batches.size > 0;
    this.#batches.clear();
    this.#bytes = 0;
    return isHeld;
  }

  #forget(revision: number): void {
    const batch = this.#batches.get(revision);
    if (batch === undefined) return;
    this.#batches.delete(revision);
    this.#bytes -= bytesOf(batch);
  }
}

interface RecentRange {
  readonly after: { readonly sequence: number };
  readonly last: StoredBatch;
  readonly maxBytes: number;
}

/** A batch of the log on `subject`. */
interface RecentBatch extends StoredBatch {
  readonly subject: string;
}
