import type { RunFeedBatch } from "@reeve/jetstream/feed/run-feed";
import { RunStatus } from "@reeve/contracts/run";
import { isTerminal } from "@reeve/run/head/run-status";

interface Held {
  readonly batches: readonly RunFeedBatch[];
  readonly sinceMs: number;
}

/**
 * Batches of runs in progress that may wait for the next ones, so that the row of a run is written when the run begins, waits, and ends,
 * and at intervals between.
 */
export class HeldBatches {
  readonly #maxMs: number;
  readonly #maxRuns: number;
  /** By run, the longest held first. */
  readonly #held = new Map<string, Held>();

  /** `maxMs`: for how long a batch may wait. `maxRuns`: how many runs may have batches that wait. */
  constructor({ maxMs, maxRuns }: { readonly maxMs: number; readonly maxRuns: number }) {
    this.#maxMs = maxMs;
    this.#maxRuns = maxRuns;
  }

  /** Adds batches of a run. Returns all that wait for it if its row has to be written now, and holds none of them. */
  add(run: string, added: readonly RunFeedBatch[], nowMs: number): readonly RunFeedBatch[] {
    const { batches = [], sinceMs = nowMs } = this.#held.get(run) ?? {};
    const all = [...batches, ...added];
    const isFull = batches.length === 0 && this.#held.size >= this.#maxRuns;
    if (isFull || added.some(showsNow)) {
      this.#held.delete(run);
      return all;
    }
    this.#held.set(run, { batches: all, sinceMs });
    return [];
  }

  /** Takes the batches that have waited for long enough, by run. */
  takeDue(nowMs: number): readonly (readonly RunFeedBatch[])[] {
    const due: (readonly RunFeedBatch[])[] = [];
    for (const [run, { batches, sinceMs }] of this.#held) {
      if (nowMs - sinceMs < this.#maxMs) break;
      this.#held.delete(run);
      due.push(batches);
    }
    return due;
  }

  /** Takes all batches, by run. */
  takeAll(): readonly (readonly RunFeedBatch[])[] {
    const all = [...this.#held.values()].map(({ batches }) => batches);
    this.#held.clear();
    return all;
  }
}

/** Whether a batch changes what somebody may wait to see in a list: that a run exists, that it waits, or that it has ended. */
function showsNow({ events }: RunFeedBatch): boolean {
  return events.some(({ sequence, event }) => {
    if (sequence === 1 || event.case === undefined || event.case === "runParked") return true;
    if (event.case !== "status") return false;
    const { status } = event.value;
    return status === RunStatus.WAITING || isTerminal(status);
  });
}
