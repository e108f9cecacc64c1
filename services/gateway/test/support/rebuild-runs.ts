import { create } from "@bufbuild/protobuf";
import type { Rebuild } from "@reeve/contracts/projection";
import { RebuildSchema } from "@reeve/contracts/projection";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { compareLogs } from "@reeve/jetstream/projection/compare-logs";
import { dropOrphans } from "@reeve/jetstream/projection/drop-orphans";
import { memoryLogCatalog } from "@reeve/jetstream/projection/memory-catalog";
import type { ProjectedTable } from "@reeve/jetstream/projection/port";
import { bootClock } from "@reeve/platform/async/boot-clock";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { CompletePorts } from "../../src/app/delete/complete-deletion.ts";
import { compareRun } from "../../src/projections/compare-run.ts";
import { deletedRuns } from "../../src/projections/deleted-runs.ts";
import type { MemoryPorts } from "./memory-ports.ts";

function report(): Promise<void> {
  return Promise.resolve();
}

/** Rebuilds the index of runs, and returns the result. */
export async function rebuildRuns(
  ports: Pick<MemoryPorts, "runs" | "logEnds"> & {
    readonly log: MemoryPorts["log"];
  } & CompletePorts,
  mode: "thorough" | "quick",
): Promise<Rebuild> {
  const signal = new AbortController().signal;
  const log = createLogger("test", "silent");
  const table: Pick<ProjectedTable<RunKey>, "name" | "compare" | "dropOrphans"> = {
    name: "runs",
    compare: (...run) => compareRun(ports, ...run),
    dropOrphans: (during, until) => dropOrphans(deletedRuns(ports, log, during), until),
  };
  const compared = { table, catalog: memoryLogCatalog(ports.log), clock: bootClock, log };
  return await compareLogs(compared, { rebuild: create(RebuildSchema), mode, report }, signal);
}
