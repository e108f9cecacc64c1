import { ErrorReason } from "@reeve/contracts/error";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import type { RunPorts } from "../ports/run-ports.ts";

/** The longest pause after a lost append. A store that answers slowly must not leave the run without an owner. */
const maxPauseMs = 1_000;
/** The shortest pause while no event explains the loss: the reader may lag behind the writer. */
const minUnexplainedPauseMs = 100;
/** How many appends in a row may be lost to a writer whose events cannot be read. */
const maxUnexplained = 20;

/** Paces the appends of one owner after it lost one, and detects a log that refuses every append. */
export class LostAppends {
  readonly #key: RunKey;
  readonly #ports: Pick<RunPorts, "clock" | "steadyClock">;
  #unexplained = 0;

  constructor(key: RunKey, ports: Pick<RunPorts, "clock" | "steadyClock">) {
    this.#key = key;
    this.#ports = ports;
  }

  /** Returns a function that returns the pause after an append that starts now: two of its round trips. */
  started(): () => number {
    const { steadyClock } = this.#ports;
    const startedAt = steadyClock.now();
    return () => Math.min(maxPauseMs, 2 * (steadyClock.now() - startedAt));
  }

  /**
   * Waits after a lost append, so that the writer that won, which may have lost to this owner before, gets in again. Throws
   * a Failure of kind `unavailable` when the owner lost many times in a row and `isExplained`, whether it read events of
   * another writer since, was never true: the log then refuses a tail that it returns as its own.
   */
  async pause(pauseMs: number, isExplained: boolean, signal: AbortSignal): Promise<void> {
    this.#unexplained = isExplained ? 0 : this.#unexplained + 1;
    if (this.#unexplained >= maxUnexplained) {
      throw new Failure(
        "unavailable",
        ErrorReason.UNAVAILABLE,
        `the log of run ${this.#key.run} refused ${maxUnexplained} appends in a row and shows no event that explains it; check that the stream RUNS has lost no data`,
      );
    }
    const leastMs = isExplained ? 0 : minUnexplainedPauseMs;
    await this.#ports.clock.sleep(Math.max(leastMs, pauseMs), signal);
  }

  /** Reports an append that succeeded. */
  succeeded(): void {
    this.#unexplained = 0;
  }
}
