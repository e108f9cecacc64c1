import type { Tail } from "../port.ts";
import { bytesOf } from "./batch-size.ts";
import type { StoredBatch } from "../stored-batch.ts";

/** Up to this many batches are read one by one; a consumer costs about as much as this many reads. */
export const maxWalkedBatches = 8;

/** Consecutive batches. */
export interface BatchRange {
  readonly batches: readonly StoredBatch[];
  /** Whether they reach the end of what is stored. */
  readonly isComplete: boolean;
  /** Whether the subject has no messages, although a batch was read from it before. */
  readonly isGone?: boolean;
  /** Whether some of them were not read now: the store may have lost them since. */
  readonly hasRecent?: boolean;
}

/** After which batch a read starts. */
export type Position = Pick<Tail, "sequence" | "revision">;

/** The batches after a position, the last of which is known. */
export interface WalkedRange {
  readonly subject: string;
  readonly after: Position;
  /** The first of them, if it was read together with the last one. */
  readonly first?: StoredBatch;
  readonly last: StoredBatch;
  /** Read all of them, or about this many bytes. */
  readonly maxBytes: number;
}

/** Returns the batch of a sequence, or the first one of a subject from a sequence on. Undefined: there is none. */
export type ReadStored = (query: {
  readonly seq: number;
  readonly next_by_subj?: string;
}) => Promise<StoredBatch | undefined>;

/**
 * Reads the batches after a position in the order of the stream. So a reader also sees a batch that no later one names: servers
 * with a defect store two batches after the same one.
 */
export async function walkForward(
  stored: ReadStored,
  { subject, after, last, maxBytes }: WalkedRange,
  signal: AbortSignal,
): Promise<BatchRange> {
  const batches: StoredBatch[] = [];
  let reached = after.revision;
  while (batches.length < maxWalkedBatches && bytesOf(...batches) < maxBytes) {
    signal.throwIfAborted();
    const next = await stored({ next_by_subj: subject, seq: reached + 1 });
    // A log that is deleted while it is read ends here.
    if (next === undefined || next.revision >= last.revision) {
      return { batches: [...batches, last], isComplete: true };
    }
    batches.push(next);
    reached = next.revision;
  }
  return { batches, isComplete: false };
}

/**
 * Reads the batches after a position, all of them from both ends at once: each batch names the one before it. When there are too
 * many, returns only the first ones.
 */
export async function walkFromBothEnds(
  stored: ReadStored,
  { subject, after, first, last, maxBytes }: WalkedRange,
  signal: AbortSignal,
): Promise<BatchRange> {
  const end: StoredBatch[] = [last];
  // One that was written later, to a log that was deleted meanwhile, is not before the last one.
  const head = first !== undefined && first.revision < last.revision ? [first] : [];
  let [reached, left] = [head.map(positionAfter)[0] ?? after, last];
  while (left.first !== reached.sequence + 1) {
    signal.throwIfAborted();
    // The last batch does not count: it was read to find out where the log ends.
    const bytes = bytesOf(...head, ...end) - bytesOf(last);
    if (head.length + end.length > maxWalkedBatches || bytes >= maxBytes) {
      return { batches: head, isComplete: false };
    }
    // A part may end before the batches at the end are of use.
    const isForward = maxBytes < Infinity || left.previousRevision <= reached.revision;
    const [next, previous] = await Promise.all([
      stored({ next_by_subj: subject, seq: reached.revision + 1 }),
      isForward ? undefined : stored({ seq: left.previousRevision }),
    ]);
    // A log that is deleted while it is read ends here.
    if (next === undefined || next.revision >= left.revision) break;
    head.push(next);
    reached = positionAfter(next);
    if (previous === undefined || previous.revision <= next.revision) continue;
    end.unshift(previous);
    left = previous;
  }
  return { batches: [...head, ...end], isComplete: true };
}

function positionAfter({ last: sequence, revision }: StoredBatch): Position {
  return { sequence, revision };
}
