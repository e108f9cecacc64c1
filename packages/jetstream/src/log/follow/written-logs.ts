import type { StoredBatch } from "../stored-batch.ts";

/** How large a log may be, and all of them together. */
const maxLogBytes = 64 * 1024;
const maxBytes = 4 * 1024 * 1024;

interface WrittenLog {
  readonly batches: readonly StoredBatch[];
  readonly bytes: number;
}

/** Short logs that this process has written from their beginning on, whole. */
export class WrittenLogs {
  /** By subject, the one that was written first is first. */
  readonly #logs = new Map<string, WrittenLog>();
  #bytes = 0;

  /** Adds a batch that was stored. A log of which an earlier one is missing, or that is too large, is forgotten. */
  add(subject: string, batch: StoredBatch): void {
    const { batches = [], bytes = 0 } = this.#logs.get(subject) ?? {};
    const last = batches.at(-1);
    const isNext =
      last === undefined
        ? batch.first === 1
        : batch.first === last.last + 1 && batch.previousRevision === last.revision;
    this.forget(subject);
    const grown = bytes + batch.data.length;
    if (!isNext || grown > maxLogBytes) return;
    this.#logs.set(subject, { batches: [...batches, batch], bytes: grown });
    this.#bytes += grown;
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

  /** Forgets everything: a store that comes back may have lost its end. */
  clear(): void {
    this.#logs.clear();
    this.#bytes = 0;
  }
}
