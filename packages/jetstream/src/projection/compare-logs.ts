import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Rebuild } from "@reeve/contracts/projection";
import { RebuildSchema } from "@reeve/contracts/projection";
import { forEach } from "@reeve/platform/async/for-each";
import type { Clock } from "@reeve/platform/async/clock";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { isTenantKeyDeleted, isUnreadableForGood } from "../sealing/key-failures.ts";
import type { LogCatalog, LogEnd, ProjectedTable } from "./port.ts";

/** Logs that are compared at a time. */
const maxConcurrent = 8;
/** Interval between reports of progress. */
const reportMs = 5_000;

interface Compared<Key> {
  readonly table: Pick<ProjectedTable<Key>, "name" | "compare" | "dropOrphans">;
  readonly catalog: LogCatalog<Key>;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Comparison {
  readonly rebuild: Rebuild;
  readonly mode: "thorough" | "quick";
  /** Stores the progress. */
  report(progress: Rebuild): Promise<void>;
}

/**
 * Compares every log with its rows, repairs the rows, and drops the rows of logs that are gone. Returns the result. Reports
 * progress every few seconds, however long one log takes: without a report, another process would take the rebuild for
 * abandoned. A log that was altered, or whose tenant's key was deleted, stays as it is.
 */
export async function compareLogs<Key>(
  { table, catalog, clock, log }: Compared<Key>,
  { rebuild, mode, report }: Comparison,
  signal: AbortSignal,
): Promise<Rebuild> {
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  const counts = { logs: 0n, repaired: 0n, failed: 0n };
  const progress = () =>
    create(RebuildSchema, { ...rebuild, ...counts, heartbeatAt: timestampFromMs(clock.now()) });
  const work = async (end: LogEnd<Key>) => {
    try {
      if (await table.compare(end, mode, until)) counts.repaired++;
    } catch (error) {
      until.throwIfAborted();
      // Nobody can read it, so a repetition would not end.
      if (!isUnreadableForGood(error)) counts.failed++;
      if (!isTenantKeyDeleted(error))
        log.warn({ err: error, projection: table.name, key: end.key }, "log was not compared");
    }
    counts.logs++;
  };
  const compareAll = async () => {
    await forEach({ items: (signal) => catalog.ends(signal), max: maxConcurrent, work }, until);
    const orphans = await table.dropOrphans?.(mode, until);
    counts.repaired += BigInt(orphans?.dropped ?? 0);
    counts.failed += BigInt(orphans?.failed ?? 0);
  };
  const reporting = reportRegularly(() => report(progress()), clock, until);
  const comparing = compareAll();
  try {
    await Promise.race([comparing, reporting]);
  } finally {
    end.abort(new DOMException("the comparison has ended", "AbortError"));
    // A report that comes after the result would replace it.
    await Promise.allSettled([reporting, comparing]);
  }
  signal.throwIfAborted();
  return { ...progress(), endedAt: timestampFromMs(clock.now()) };
}

/** Reports until `signal` aborts, by throwing its reason, or a report fails. */
async function reportRegularly(
  report: () => Promise<void>,
  clock: Pick<Clock, "sleep">,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    await clock.sleep(reportMs, signal);
    await report();
  }
}
