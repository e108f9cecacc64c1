import { bytesOf } from "../reading/batch-size.ts";
import type { BatchRange } from "../reading/walk-batches.ts";
import type { StoredBatch } from "../stored-batch.ts";
import type { LogArchives } from "./log-archives.ts";

/** The archives that have the beginning of a subject. */
interface ArchivedSubject {
  readonly archives: LogArchives;
  readonly subject: string;
}

/**
 * Adds, before each marker in a range after a sequence, the archived batches that come before it and are not in the range. When there are
 * too many, returns only the first ones.
 */
export async function withArchived(
  { archives, subject }: ArchivedSubject,
  range: BatchRange,
  after: number,
  maxBytes: number,
  signal: AbortSignal,
): Promise<BatchRange> {
  if (range.batches.every(({ marker }) => marker === undefined)) return range;
  const batches: StoredBatch[] = [];
  let sequence = after;
  for (const batch of range.batches) {
    if (batch.marker !== undefined && sequence < batch.last) {
      const left = maxBytes - bytesOf(...batches);
      const archived = await archives.read(subject, batch, { sequence }, left, signal);
      batches.push(...archived.batches);
      if (!archived.isComplete) return { ...range, batches, isComplete: false };
    }
    batches.push(batch);
    sequence = Math.max(sequence, batch.last);
  }
  return { ...range, batches };
}

/** Replaces each marker among messages after a revision by the archived batches that come before it and are not among them. */
export async function withArchivedRaw(
  { archives, subject }: ArchivedSubject,
  messages: readonly StoredBatch[],
  after: number,
  maxBytes: number,
  signal: AbortSignal,
): Promise<readonly StoredBatch[]> {
  const batches: StoredBatch[] = [];
  let revision = after;
  // Some servers remove what was archived one by one, oldest first.
  const isRest = after === 0 && messages[0]?.first !== 1;
  const first = isRest
    ? Math.max(
        0,
        messages.findIndex(({ marker }) => marker !== undefined),
      )
    : 0;
  for (const message of messages.slice(first)) {
    if (message.marker === undefined) batches.push(message);
    else {
      const left = maxBytes - bytesOf(...batches);
      const archived = await archives.read(subject, message, { revision }, left, signal);
      batches.push(...archived.batches);
      if (!archived.isComplete) return batches;
    }
    revision = batches.at(-1)?.revision ?? revision;
  }
  return batches;
}
