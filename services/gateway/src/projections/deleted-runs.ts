import type { Run } from "@reeve/contracts/run";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { RowsOfLogs } from "@reeve/jetstream/projection/drop-orphans";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { CompletePorts } from "../app/delete/complete-deletion.ts";
import { completeDeletion, deletedRunOf } from "../app/delete/complete-deletion.ts";
import type { IndexPorts } from "./run-index.ts";
import { runsOfLogs } from "./run-index.ts";

/**
 * Returns the index of runs for a rebuild that completes interrupted deletions. A log can also be missing because the store lost
 * it, or has yet to be restored: without the mark of a deletion, only the row is dropped, and `quick` keeps it.
 */
export function deletedRuns(
  ports: IndexPorts & CompletePorts,
  log: Logger,
  mode: "thorough" | "quick",
): RowsOfLogs<RunKey, Run> {
  const rows = runsOfLogs(ports);
  return {
    ...rows,
    logOf: (row) => (mode === "thorough" || row.record.deleting ? rows.logOf(row) : undefined),
    async complete(row, signal) {
      const key = rows.logOf(row);
      if (key === undefined || !row.record.deleting) return true;
      try {
        await completeDeletion(ports, key, deletedRunOf(key, row.record), signal);
        return true;
      } catch (error) {
        signal.throwIfAborted();
        log.warn({ err: error, ...key }, "the deletion of a run was not completed; trying again");
        return false;
      }
    },
  };
}
