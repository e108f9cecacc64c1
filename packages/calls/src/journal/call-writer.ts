import type { ToolCallFact } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import type { Tail } from "@reeve/jetstream/log/port";
import type { Retry } from "@reeve/platform/async/retry/retry";
import { retry } from "@reeve/platform/async/retry/retry";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { CallPorts } from "../ports/call-ports.ts";

/** Delays before a fact that must not be lost is written again. There is no limit: only this host has the fact. */
const backoff = { firstDelayMs: 100, maxDelayMs: 3_000 };
/** How many progress facts may wait. Beyond that, the latest replaces the one before it. */
const maxPendingProgress = 64;
/** How many progress facts one call may leave in its journal. */
const maxProgress = 2_000;
/** For how long progress waits for more of it, and for the result: the facts of a short call are one append. */
const gatherMs = 20;

/**
 * Writes the facts of a call that this host executes, one append at a time; progress that arrives meanwhile, or shortly after
 * other progress, is part of the next append. Writes nothing more once another party has ended the call or taken it over.
 */
export class CallWriter {
  readonly #ports: Pick<CallPorts, "journal" | "clock" | "log">;
  readonly #key: CallKey;
  readonly #pending: ToolCallFact[] = [];
  #onAppend: ((tail: Tail) => void) | undefined;
  #tail: Tail;
  #isLost = false;
  #progressCount = 0;
  #writing: Promise<void> = Promise.resolve();
  #writers = 0;
  #gathering: NodeJS.Timeout | undefined;

  /** `onAppend` is called with the end of the journal after each append, as long as nobody else has written to it. */
  constructor(
    ports: Pick<CallPorts, "journal" | "clock" | "log">,
    { key, tail }: { readonly key: CallKey; readonly tail: Tail },
    onAppend?: (tail: Tail) => void,
  ) {
    this.#ports = ports;
    this.#key = key;
    this.#tail = tail;
    this.#onAppend = onAppend;
  }

  /** Writes progress in its turn. Progress that cannot be written is dropped. */
  writeProgress(progress: ToolCallFact, signal: AbortSignal): void {
    if (this.#progressCount >= maxProgress) return;
    if (this.#pending.length >= maxPendingProgress) this.#pending.pop();
    else this.#progressCount++;
    this.#pending.push(progress);
    if (this.#writers > 0) return;
    this.#gathering ??= setTimeout(() => this.#writeGathered(signal), gatherMs);
  }

  #writeGathered(signal: AbortSignal): void {
    this.#gathering = undefined;
    if (this.#writers > 0) return;
    this.#writers++;
    this.#writing = this.#flush(signal).finally(() => {
      this.#writers--;
    });
  }

  /** Ends the wait for more progress: what is written next takes what has come. */
  #endGathering(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
  }

  /**
   * Writes a fact that must not be lost, after all progress, however long the journal is unavailable. Throws when `signal`
   * aborts, or when the call belongs to another host.
   */
  async write(fact: ToolCallFact, signal: AbortSignal): Promise<void> {
    this.#endGathering();
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
   * Writes the result after all progress, however long the journal is unavailable. Returns false when another party has already
   * ended the call or taken it over. Throws when `signal` aborts, and a Failure with the reason `TOO_LARGE` when the journal
   * accepts no fact of this size.
   */
  async finish(result: ToolCallFact, signal: AbortSignal): Promise<boolean> {
    await this.#writing;
    this.#endGathering();
    await this.#persist([...this.#pending.splice(0), result], signal);
    return !this.#isLost;
  }

  async #persist(facts: readonly ToolCallFact[], signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#ports;
    const onRetry = (error: unknown, { attempt }: Retry) => {
      const callId = this.#key.call;
      if (attempt === 1)
        log.warn(
          { err: error, callId },
          "cannot write what the call did; trying until it is written",
        );
    };
    const options = { backoff, clock, isRetryable: mayBeWritten, onRetry };
    await retry(() => this.#append(facts, signal), options, signal);
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
      const { journal } = this.#ports;
      const appended = await journal.append(this.#key, this.#tail, facts, signal);
      if (appended.kind === "appended") {
        this.#tail = appended.tail;
        this.#onAppend?.(appended.tail);
        return;
      }
      this.#onAppend = undefined;
      const { events, tail } = await journal.read(this.#key, this.#tail, signal);
      // The runtime writes answers into a call of this host. Any other fact of another party ends the call here.
      this.#isLost = events.some(({ fact }) => fact.case !== "answer");
      this.#tail = tail;
    }
  }
}

/** A store that is full may have room again later. */
function mayBeWritten(error: unknown): boolean {
  return error instanceof Failure && error.reason !== ErrorReason.TOO_LARGE;
}
