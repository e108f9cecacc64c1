import type { Run } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { isTerminal } from "@reeve/run/head/run-status";
import type { RunKey, RunTailReader } from "@reeve/jetstream/log/run-log";
import { isParked } from "@reeve/run/head/ownership";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table } from "@reeve/jetstream/table/port";
import { runTogether } from "@reeve/platform/async/run-together";
import type { SweepRecord, SweepPorts } from "./sweep-run.ts";
import { sweepParked, sweepRun, emptySweepRecord } from "./sweep-run.ts";

export interface SweepClock {
  now(): number;
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}

/** Interval between rounds. */
const roundMs = 5_000;
/** Time after a change of a run during which its writer may finish; then the run is due. */
const graceMs = 10_000;
/** Maximum interval between sweeps of a run. */
const maxDelayMs = 600_000;
/** Runs that one round sweeps; the others stay due. */
const maxInRound = 200;
/** Runs of a round that are reserved for the last changed ones, so that a backlog does not delay them. */
const maxFresh = 100;

interface Ports extends SweepPorts {
  readonly logEnds: RunTailReader;
  readonly runs: Pick<Table<Run>, "watch">;
}

interface OpenRun {
  readonly key: RunKey;
  readonly record: SweepRecord;
  /** Whether its row says that the run waits. */
  readonly waits: boolean;
  readonly dueMs: number;
  readonly delayMs: number;
}

/**
 * Sweeps all runs that have not ended, until `signal` aborts: dispatches those that lost their dispatch, because the
 * process that created, woke, or owned them died, or because their message is gone. Sweeps a run after each of its changes
 * and then at increasing intervals. A restart loses nothing, and several gateways may sweep concurrently.
 */
export async function sweepRuns(
  ports: Ports,
  clock: SweepClock,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const open = new Map<string, OpenRun>();
  const watch = async (until: AbortSignal) => {
    for await (const change of ports.runs.watch("", until)) {
      if (change.kind === "deleted") open.delete(change.key);
      if (change.kind === "written") note(open, change.row.key, change.row.record, clock.now());
    }
  };
  const sweep = async (until: AbortSignal) => {
    for (;;) {
      await clock.sleep(roundMs, until);
      await sweepDue(open, ports, clock, log, until);
    }
  };
  await runTogether([watch, sweep], signal);
}

function note(open: Map<string, OpenRun>, rowKey: string, run: Run, nowMs: number): void {
  const known = open.get(rowKey);
  open.delete(rowKey);
  if (isTerminal(run.status)) return;
  const [tenant = ""] = rowKey.split(".", 1);
  const key = { tenant, run: run.runId };
  const record = known?.record ?? emptySweepRecord;
  const waits = run.status === RunStatus.WAITING;
  open.set(rowKey, { key, record, waits, dueMs: nowMs + graceMs, delayMs: graceMs });
}

async function sweepDue(
  open: Map<string, OpenRun>,
  ports: Ports,
  clock: SweepClock,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for (const [rowKey, run] of nextOf(open, clock.now())) {
    const record = await sweepOne(run, ports, log, signal);
    // A run that changed meanwhile is due again.
    if (open.get(rowKey) !== run) continue;
    if (record.ownership.endSequence !== undefined) open.delete(rowKey);
    else {
      // A change of its row makes the run due, so a parked run needs no frequent sweeps.
      const delayMs = isParked(record.ownership)
        ? maxDelayMs
        : Math.min(run.delayMs * 2, maxDelayMs);
      open.set(rowKey, { ...run, record, delayMs, dueMs: clock.now() + delayMs });
    }
  }
}

/** Returns the runs that this round sweeps: the last changed ones, and those that have been due for longest. */
function nextOf(
  open: ReadonlyMap<string, OpenRun>,
  nowMs: number,
): readonly (readonly [string, OpenRun])[] {
  const due = [...open].filter(([, { dueMs }]) => dueMs <= nowMs);
  if (due.length <= maxInRound) return due;
  const fresh = due
    .toSorted(([, a], [, b]) => a.delayMs - b.delayMs || b.dueMs - a.dueMs)
    .slice(0, maxFresh);
  const longest = due
    .toSorted(([, a], [, b]) => a.dueMs - b.dueMs)
    .slice(0, maxInRound)
    .filter((entry) => !fresh.includes(entry));
  return [...fresh, ...longest].slice(0, maxInRound);
}

async function sweepOne(
  { key, record, waits }: OpenRun,
  ports: Ports,
  log: Logger,
  signal: AbortSignal,
): Promise<SweepRecord> {
  const { tenant, run: runId } = key;
  try {
    const parked =
      waits && record === emptySweepRecord ? await sweepParked(ports, key, signal) : undefined;
    if (parked !== undefined) return parked;
    const after = await sweepRun(ports, key, record, signal);
    if (after.isDispatched)
      log.info({ tenant, runId }, "run without a dispatch was dispatched again");
    return after;
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, tenant, runId }, "run was not swept; trying again later");
    return record;
  }
}
