import type { StoredBatch } from "../stored-batch.ts";

/** How large a log may be, and all of them together. */
const maxLogBytes = 64 * 1024;
const maxBytes = 4 * 1024 * 1024;

interface WrittenLog {
  /** Undefined: not all of them are known, so batches that are added later do not count. */
  readonly batches: readonly StoredBatch[] | undefined;
  readonly bytes: number;
}

/** The size that a log without batches counts for. */
const unknown: WrittenLog = { batches: undefined, bytes: 256 };

/** Short logs that this process has written from their beginning on, whole. */
export class WrittenLogs {
  /** By subject, the one that was written last is last. */
  readonly #logs = new Map<string, WrittenLog>();
  #bytes = 0;

  /**
   * Adds a batch that was stored. A log of which an earlier one is missing, or that is too large, is not known any more: batches may be
   * added in another order than that of the log, and its first one must not pass for the whole of it.
   */
  add(subject: string, batch: StoredBatch): void {
    this.#set(subject, withBatch(this.#logs.get(subject), batch));
    for (const oldest of this.#logs.keys()) {
      if (this.#bytes <= maxBytes) return;
      this.forget(oldest);
    }
  }

  /** Returns the batches of a log. Undefined: not all of them are known. */
  get(subject: string): readonly StoredBatch[] | undefined {
    return this.#logs.get(subject)?.batches;
  }

  /** Forgets a log that may have other batches now. */
  forget(subject: string): void {
    this.#bytes -= this.#logs.get(subject)?.bytes ?? 0;
    this.#logs.delete(subject);
  }

  /** Forgets all batches: a store that comes back may have lost its end. What was not known as a whole stays unknown. */
  clear(): void {
    for (const [subject, { batches }] of this.#logs) {
      if (batches !== undefined) this.forget(subject);
    }
  }

  #set(subject: string, log: WrittenLog): void {
    this.forget(subject);
    this.#logs.set(subject, log);
    this.#bytes += log.bytes;
  }
}

function withBatch(log: WrittenLog | undefined, batch: StoredBatch): WrittenLog {
  const { batches, bytes } = log ?? { batches: [], bytes: 0 };
  if (batches === undefined) return unknown;
  const last = batches.at(-1);
  const isNext =
    last === undefined
      ? batch.first === 1
      : batch.first === last.last + 1 && batch.previousRevision === last.revision;
  const grown = bytes + batch.data.length;
  if (!isNext || grown > maxLogBytes) return unknown;
  return { batches: [...batches, batch], bytes: grown };
}
