import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Rebuild } from "@reeve/contracts/projection";
import { RebuildSchema } from "@reeve/contracts/projection";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { TaskSet } from "@reeve/platform/async/task-set";
import type { Clock } from "@reeve/platform/async/clock";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { LogCatalog, LogEnd, ProjectedTable } from "./port.ts";

/** Logs that are compared at a time. */
const maxConcurrent = 8;
/** Interval between reports of progress. */
const reportMs = 5_000;

interface Compared<Key> {
  readonly table: Pick<ProjectedTable<Key>, "name" | "compare">;
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

/** Compares every log with its rows, and repairs the rows. Returns the result. Reports progress every few seconds. */
export async function compareLogs<Key>(
  { table, catalog, clock, log }: Compared<Key>,
  { rebuild, mode, report }: Comparison,
  signal: AbortSignal,
): Promise<Rebuild> {
  const permits = new Semaphore(maxConcurrent);
  const tasks = new TaskSet();
  const counts = { logs: 0n, repaired: 0n, failed: 0n };
  const progress = () =>
    create(RebuildSchema, { ...rebuild, ...counts, heartbeatAt: timestampFromMs(clock.now()) });
  const compare = async (end: LogEnd<Key>) => {
    try {
      if (await table.compare(end, mode, signal)) counts.repaired++;
    } catch (error) {
      signal.throwIfAborted();
      counts.failed++;
      log.warn({ err: error, projection: table.name, key: end.key }, "log was not compared");
    }
    counts.logs++;
  };
  let reportedMs = clock.now();
  for await (const end of catalog.ends(signal)) {
    const permit = await permits.acquire(signal);
    void tasks.add(compare(end).finally(() => permit[Symbol.dispose]()));
    if (clock.now() - reportedMs < reportMs) continue;
    reportedMs = clock.now();
    await report(progress());
  }
  await tasks.settled();
  signal.throwIfAborted();
  return { ...progress(), endedAt: timestampFromMs(clock.now()) };
}
