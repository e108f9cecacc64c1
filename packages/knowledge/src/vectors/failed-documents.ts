const maxDelayMs = 24 * 3_600_000;
/** The oldest ones beyond this are forgotten, and tried again. */
const maxDocuments = 10_000;

/** The documents whose embeddings failed in this process, which are left alone for twice as long after each failure. */
export class FailedDocuments {
  readonly #now: () => number;
  readonly #failed = new Map<string, { readonly untilMs: number; readonly delayMs: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether a document is left alone now. */
  has(object: string): boolean {
    return (this.#failed.get(object)?.untilMs ?? 0) > this.#now();
  }

  /** Leaves a document alone: for `firstDelayMs` after its first failure, and for a day at most. */
  add(object: string, firstDelayMs: number): void {
    const before = this.#failed.get(object)?.delayMs ?? 0;
    const delayMs = Math.min(Math.max(firstDelayMs, 2 * before), maxDelayMs);
    this.#failed.delete(object);
    this.#failed.set(object, { untilMs: this.#now() + delayMs, delayMs });
    const [oldest] = this.#failed.keys();
    if (this.#failed.size > maxDocuments && oldest !== undefined) this.#failed.delete(oldest);
  }

  delete(object: string): void {
    this.#failed.delete(object);
  }
}
