import type { AgendaEntry } from "@reeve/jetstream/local-index/agenda";
import { isParked, ownershipParkedAt } from "@reeve/run/head/ownership";
import { z } from "zod";
import type { SweepRecord } from "./sweep-run.ts";
import { emptySweepRecord } from "./sweep-run.ts";

/** Runs whose last sweeps are held in memory. */
const maxHeld = 5_000;

/** What the entry of a run holds. */
const memo = z.object({
  dispatched: z.object({ dedupeId: z.string(), sequence: z.number() }).optional(),
  /** The tail of a log that ends with a park. */
  parked: z.object({ sequence: z.number(), revision: z.number(), digest: z.string() }).optional(),
  /** When the parked run has to be woken at the latest. */
  wakeAtMs: z.number().optional(),
});

/**
 * What the last sweeps of runs left for the next. The memo of a run's entry has the dispatch that a sweep made, so that it is not
 * made twice, and where the run was parked. The rest is held for the last swept runs only; the logs of others are read again.
 */
export class RecentSweeps {
  readonly #records = new Map<string, SweepRecord>();

  of({ key, memo: text }: AgendaEntry): SweepRecord {
    const known = this.#records.get(key);
    if (known !== undefined) return known;
    const { dispatched, parked, wakeAtMs } = memo.parse(text === "" ? {} : JSON.parse(text));
    const record = { ...emptySweepRecord, dispatched };
    if (parked === undefined) return record;
    const ownership = { ...ownershipParkedAt(parked.sequence), wakeAtMs };
    return { ...record, tail: parked, ownership };
  }

  /** Keeps what a sweep left, and returns the memo for the entry of the run. */
  keep({ key }: AgendaEntry, record: SweepRecord): string {
    const { dispatched, tail } = record;
    const parked = isParked(record.ownership) ? tail : undefined;
    this.forget(key);
    if (parked === undefined) this.#records.set(key, record);
    const [oldest] = this.#records.keys();
    if (this.#records.size > maxHeld && oldest !== undefined) this.forget(oldest);
    const { wakeAtMs } = record.ownership;
    return JSON.stringify({ dispatched, parked, wakeAtMs } satisfies z.input<typeof memo>);
  }

  forget(key: string): void {
    this.#records.delete(key);
  }
}
