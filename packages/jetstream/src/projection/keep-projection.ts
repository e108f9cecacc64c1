import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Projection, Rebuild } from "@reeve/contracts/projection";
import { ProjectionSchema, RebuildSchema } from "@reeve/contracts/projection";
import type { Clock } from "@reeve/platform/async/clock";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table } from "../table/port.ts";
import type { LogCatalog, ProjectedTable } from "./port.ts";
import { comparisonOf } from "./rebuild-reason.ts";
import { compareLogs } from "./compare-logs.ts";

/** The work that is repeated unless the ports say otherwise. */
const rebuilding = { name: "rebuild of a projection", intervalMs: 6 * 3_600_000 };
/** Interval between checks whether a rebuild is due. */
const checkMs = 10_000;

export interface ProjectionPorts<Key> {
  readonly table: ProjectedTable<Key>;
  readonly catalog: LogCatalog<Key>;
  readonly states: Table<Projection>;
  /** Identifies this process. */
  readonly process: string;
  /** Wall-clock time. */
  readonly clock: Clock;
  readonly log: Logger;
  /** Default: a rebuild, every six hours. */
  readonly task?: {
    /** For the log. */
    readonly name: string;
    /** Interval between repetitions that nobody requested. */
    readonly intervalMs: number;
  };
}

/**
 * Rebuilds a projection from its logs, while runs continue, until `signal` aborts: when its bucket is new, when a rebuild is
 * requested, and every few hours to repair what no fault should have damaged. Of several processes, one performs a rebuild.
 */
export async function keepProjection<Key>(
  ports: ProjectionPorts<Key>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await rebuildIfDue(ports, signal);
    await ports.clock.sleep(checkMs, signal);
  }
}

async function rebuildIfDue<Key>(ports: ProjectionPorts<Key>, signal: AbortSignal): Promise<void> {
  const { table, states, process, clock, log, task = rebuilding } = ports;
  const instance = await table.instance(signal);
  const row = await states.get(table.name, signal);
  const before = row?.record ?? create(ProjectionSchema, { name: table.name });
  const { intervalMs } = task;
  const mode = comparisonOf(before, instance, { nowMs: clock.now(), intervalMs });
  if (mode === undefined) return;
  const now = timestampFromMs(clock.now());
  const rebuild = create(RebuildSchema, { process, startedAt: now, heartbeatAt: now });
  const claim = { ...before, rebuild };
  const claimed =
    row === undefined
      ? await states.create(table.name, claim, signal)
      : await states.update(table.name, claim, row.revision, signal);
  // Another process was first.
  if (claimed === undefined) return;
  const projection = table.name;
  log.info({ projection, mode }, `${task.name} started`);
  const report = (progress: Rebuild) => store(ports, progress, {}, signal);
  const done = await compareLogs(ports, { rebuild, mode, report }, signal);
  const result = { bucketInstance: instance, rebuiltAt: now, fulfilledRequests: before.requests };
  await store(ports, done, done.failed === 0n ? result : {}, signal);
  const { logs, repaired, failed } = done;
  const counts = { logs: Number(logs), repaired: Number(repaired), failed: Number(failed) };
  log.info({ projection, ...counts }, `${task.name} ended`);
}

/** Writes the progress of this process's rebuild. Throws if another process has taken the rebuild over. */
async function store<Key>(
  { table, states, process }: ProjectionPorts<Key>,
  rebuild: Rebuild,
  result: Partial<Pick<Projection, "bucketInstance" | "rebuiltAt" | "fulfilledRequests">>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const row = await states.get(table.name, signal);
    if (row?.record.rebuild?.process !== process) {
      throw new Error(`the rebuild of projection ${table.name} was taken over by another process`);
    }
    const after = { ...row.record, rebuild, ...result };
    // Another writer can only have requested a rebuild.
    if ((await states.update(table.name, after, row.revision, signal)) !== undefined) return;
  }
}
