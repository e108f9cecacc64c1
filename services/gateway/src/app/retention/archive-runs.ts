import type { Projection } from "@reeve/contracts/projection";
import type { Run } from "@reeve/contracts/run";
import type { LogArchiver } from "@reeve/jetstream/log/archive-port";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { ProjectionPorts } from "@reeve/jetstream/projection/keep-projection";
import { keepProjection } from "@reeve/jetstream/projection/keep-projection";
import type { LogEnd } from "@reeve/jetstream/projection/port";
import type { Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";
import { counter } from "@reeve/platform/telemetry/metrics";
import { ArchivableRuns } from "./archivable-runs.ts";

/** Interval between searches: what one has closed, the next one completes, after the marker's hour. */
const intervalMs = 2 * 3_600_000;

const logs = counter({
  name: "reeve_archived_logs_total",
  help: "Logs of ended runs that were moved to the archive.",
});

interface ArchivePorts {
  readonly runs: Pick<Table<Run>, "watch">;
  /** Where gateways agree on the one that archives. */
  readonly states: Table<Projection>;
  readonly archiver: LogArchiver<RunKey>;
  /** Erases what archivers that died have left. Returns how much. */
  eraseOrphans(signal: AbortSignal): Promise<number>;
}

/**
 * Moves the logs of runs that ended at least `afterMs` ago to the archive, until `signal` aborts. Of several gateways, one does it; another
 * takes over when it dies.
 */
export async function archiveRuns(
  { runs, states, archiver, eraseOrphans }: ArchivePorts,
  afterMs: number,
  { process, clock, log }: Pick<ProjectionPorts<RunKey>, "process" | "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const catalog = new ArchivableRuns({ runs, clock }, afterMs);
  const archive = async (key: RunKey, until: AbortSignal) => {
    const outcome = await archiver.archive(key, until).catch((error: unknown) => {
      until.throwIfAborted();
      if (error instanceof Failure && error.kind === "unavailable") throw error;
      log.warn({ err: error, ...key }, "the log of a run was not archived");
      return "failed" as const;
    });
    catalog.settle(key, outcome);
    if (outcome === "closed") logs.inc();
    return outcome === "closed";
  };
  const table = {
    name: "archives",
    instance: () => Promise.resolve("runs"),
    compare: ({ key }: LogEnd<RunKey>, _: unknown, until: AbortSignal) => archive(key, until),
    dropOrphans: async (_: unknown, until: AbortSignal) => ({
      dropped: await eraseOrphans(until),
      failed: 0,
    }),
  };
  const task = { name: "archive of old runs", intervalMs };
  await keepProjection({ table, catalog, states, process, clock, log, task }, signal);
}
