import { setTimeout as wait } from "node:timers/promises";
import type { ToolCallFact } from "@reeve/contracts/tool";
import type { CallJournal, CallKey } from "@reeve/jetstream/log/call-journal";
import type { Tail } from "@reeve/jetstream/log/port";
import { Failure, isRetryable } from "@reeve/platform/failure";

const maxAttempts = 8;
const firstDelayMs = 100;
const longestDelayMs = 3_000;
/** How much progress waits at most; beyond that the latest replaces the one before it. */
const maxWaiting = 64;
/** How much progress one call may leave in its journal. */
const maxProgress = 2_000;

/**
 * Writes the facts of a call that this host executes, one append at a time; progress that arrives meanwhile goes into the
 * next one. Once somebody else has written, nothing more is.
 */
export class CallWriter {
  readonly #journal: CallJournal;
  readonly #key: CallKey;
  readonly #waiting: ToolCallFact[] = [];
  #tail: Tail;
  #isLost = false;
  #written = 0;
  #writing: Promise<void> = Promise.resolve();
  #writers = 0;

  constructor(journal: CallJournal, key: CallKey, tail: Tail) {
    this.#journal = journal;
    this.#key = key;
    this.#tail = tail;
  }

  /** Writes progress in its turn; progress that cannot be written is dropped. */
  report(progress: ToolCallFact, signal: AbortSignal): void {
    if (this.#written >= maxProgress) return;
    if (this.#waiting.length >= maxWaiting) this.#waiting.pop();
    else this.#written++;
    this.#waiting.push(progress);
    if (this.#writers > 0) return;
    this.#writers++;
    this.#writing = this.#flush(signal).finally(() => {
      this.#writers--;
    });
  }

  /** Writes what must not be lost after all progress. Throws when the journal is away, or the call is somebody else's. */
  async keep(fact: ToolCallFact, signal: AbortSignal): Promise<void> {
    const before = this.#writing;
    this.#writers++;
    const keeping = async () => {
      await before;
      await this.#persist([...this.#waiting.splice(0), fact], signal);
    };
    const kept = keeping();
    this.#writing = kept
      .catch(() => undefined)
      .finally(() => {
        this.#writers--;
      });
    await kept;
    if (this.#isLost) throw new Error("the call is not ours any more");
  }

  /** Writes the result after all progress. False: somebody else has ended the call. Throws when the journal is away. */
  async finish(result: ToolCallFact, signal: AbortSignal): Promise<boolean> {
    await this.#writing;
    await this.#persist([...this.#waiting.splice(0), result], signal);
    return !this.#isLost;
  }

  async #persist(facts: readonly ToolCallFact[], signal: AbortSignal): Promise<void> {
    let delayMs = firstDelayMs;
    for (let attempt = 1; !this.#isLost; attempt++) {
      try {
        await this.#append(facts, signal);
        break;
      } catch (error) {
        const again = error instanceof Failure && isRetryable(error) && attempt < maxAttempts;
        if (!again) throw error;
        await wait(delayMs, undefined, { signal });
        delayMs = Math.min(delayMs * 2, longestDelayMs);
      }
    }
  }

  async #flush(signal: AbortSignal): Promise<void> {
    try {
      while (this.#waiting.length > 0 && !this.#isLost) {
        await this.#append(this.#waiting.splice(0), signal);
      }
    } catch {
      // Progress is worth no retry: the result comes by itself.
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
      // The runtime writes answers into a call that is ours; all else that others write ends it.
      this.#isLost = events.some(({ fact }) => fact.case !== "answer");
      this.#tail = tail;
    }
  }
}
