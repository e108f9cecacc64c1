import type { ToolCallFact } from "@reeve/contracts/tool";
import type { CallJournal, CallKey } from "@reeve/jetstream/log/call-journal";
import type { Tail } from "@reeve/jetstream/log/port";
import { retry } from "@reeve/platform/async/retry/retry";
import { Failure, isRetryable } from "@reeve/platform/failure";

/** How many times a fact that must not be lost is written again. */
const writeRetry = {
  maxAttempts: 8,
  backoff: { firstDelayMs: 100, maxDelayMs: 3_000 },
  isRetryable: (error: unknown) => error instanceof Failure && isRetryable(error),
};
/** How many progress facts may wait. Beyond that, the latest replaces the one before it. */
const maxPendingProgress = 64;
/** How many progress facts one call may leave in its journal. */
const maxProgress = 2_000;

/**
 * Writes the facts of a call that this host executes, one append at a time; progress that arrives meanwhile is part of the next
 * append. Writes nothing more once another party has ended the call or taken it over.
 */
export class CallWriter {
  readonly #journal: CallJournal;
  readonly #key: CallKey;
  readonly #pending: ToolCallFact[] = [];
  #tail: Tail;
  #isLost = false;
  #progressCount = 0;
  #writing: Promise<void> = Promise.resolve();
  #writers = 0;

  constructor(journal: CallJournal, key: CallKey, tail: Tail) {
    this.#journal = journal;
    this.#key = key;
    this.#tail = tail;
  }

  /** Writes progress in its turn. Progress that cannot be written is dropped. */
  writeProgress(progress: ToolCallFact, signal: AbortSignal): void {
    if (this.#progressCount >= maxProgress) return;
    if (this.#pending.length >= maxPendingProgress) this.#pending.pop();
    else this.#progressCount++;
    this.#pending.push(progress);
    if (this.#writers > 0) return;
    this.#writers++;
    this.#writing = this.#flush(signal).finally(() => {
      this.#writers--;
    });
  }

  /**
   * Writes a fact that must not be lost, after all progress. Throws when the journal is unavailable, or when the call belongs to
   * another host.
   */
  async write(fact: ToolCallFact, signal: AbortSignal): Promise<void> {
    const before = this.#writing;
    this.#writers++;
    const write = async () => {
      await before;
      await this.#persist([...this.#pending.splice(0), fact], signal);
    };
    const written = write();
    this.#writing = written
      .catch(() => undefined)
      .finally(() => {
        this.#writers--;
      });
    await written;
    if (this.#isLost) throw new Error("the call was ended or taken over by another host");
  }

  /**
   * Writes the result after all progress. Returns false when another party has already ended the call or taken it over. Throws
   * when the journal is unavailable.
   */
  async finish(result: ToolCallFact, signal: AbortSignal): Promise<boolean> {
    await this.#writing;
    await this.#persist([...this.#pending.splice(0), result], signal);
    return !this.#isLost;
  }

  async #persist(facts: readonly ToolCallFact[], signal: AbortSignal): Promise<void> {
    await retry(() => this.#append(facts, signal), writeRetry, signal);
  }

  async #flush(signal: AbortSignal): Promise<void> {
    try {
      while (this.#pending.length > 0 && !this.#isLost) {
        await this.#append(this.#pending.splice(0), signal);
      }
    } catch {
      // Progress is not worth a retry: the result follows in any case.
    }
  }

  async #append(facts: readonly ToolCallFact[], signal: AbortSignal): Promise<void> {
    while (!this.#isLost) {
      const appended = await this.#journal.append(this.#key, this.#tail, facts, signal);
      if (appended.kind === "appended") {
        this.#tail = appended.tail;
        return;
      }
      const { events, tail } = await this.#journal.read(this.#key, this.#tail, signal);
      // The runtime writes answers into a call of this host. Any other fact of another party ends the call here.
      this.#isLost = events.some(({ fact }) => fact.case !== "answer");
      this.#tail = tail;
    }
  }
}
