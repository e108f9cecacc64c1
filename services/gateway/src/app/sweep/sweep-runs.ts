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

/** How often it is seen to what is due. */
const roundMs = 5_000;
/** The time that whoever changed a run has to finish; then it is looked at. */
const graceMs = 10_000;
/** A run that rests is looked at ever more seldom, down to this. */
const longestMs = 600_000;
/** How many runs one round looks at; the others stay due. */
const maxInRound = 200;
/** How many of them are those that changed last: they are found however many are due before them. */
const maxFresh = 100;

interface Ports extends SweepPorts {
  readonly logEnds: RunTailReader;
  readonly runs: Pick<Table<Run>, "watch">;
}

interface Open {
  readonly key: RunKey;
  readonly looked: SweepRecord;
  /** Whether its row says that it waits. */
  readonly waits: boolean;
  readonly dueMs: number;
  readonly delayMs: number;
}

/**
 * Looks after all runs that have not ended, until `signal` aborts: dispatches those that are forgotten, because whoever
 * stored, woke or owned them died at a bad moment, or because their message is gone. Looks at a run after each of its
 * changes and then ever more seldom. Knows after a restart what it knew before; several gateways may do so at once.
 */
export async function sweepRuns(
  ports: Ports,
  clock: SweepClock,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const open = new Map<string, Open>();
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

function note(open: Map<string, Open>, rowKey: string, run: Run, nowMs: number): void {
  const known = open.get(rowKey);
  open.delete(rowKey);
  if (isTerminal(run.status)) return;
  const [tenant = ""] = rowKey.split(".", 1);
  const key = { tenant, run: run.runId };
  const looked = known?.looked ?? emptySweepRecord;
  const waits = run.status === RunStatus.WAITING;
  open.set(rowKey, { key, looked, waits, dueMs: nowMs + graceMs, delayMs: graceMs });
}

async function sweepDue(
  open: Map<string, Open>,
  ports: Ports,
  clock: SweepClock,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for (const [rowKey, run] of nextOf(open, clock.now())) {
    const looked = await lookAt(run, ports, log, signal);
    // Whatever changed meanwhile is due anew by itself.
    if (open.get(rowKey) !== run) continue;
    if (looked.ownership.endSequence !== undefined) open.delete(rowKey);
    else {
      // A change of its row makes it due at once; nothing else is to be looked for often.
      const delayMs = isParked(looked.ownership) ? longestMs : Math.min(run.delayMs * 2, longestMs);
      open.set(rowKey, { ...run, looked, delayMs, dueMs: clock.now() + delayMs });
    }
  }
}

/** What this round looks at: the freshest, newest first, and those that have been due for longest. */
function nextOf(
  open: ReadonlyMap<string, Open>,
  nowMs: number,
): readonly (readonly [string, Open])[] {
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

async function lookAt(
  { key, looked, waits }: Open,
  ports: Ports,
  log: Logger,
  signal: AbortSignal,
): Promise<SweepRecord> {
  const { tenant, run: runId } = key;
  try {
    const parked =
      waits && looked === emptySweepRecord ? await sweepParked(ports, key, signal) : undefined;
    if (parked !== undefined) return parked;
    const seen = await sweepRun(ports, key, looked, signal);
    if (seen.isDispatched) log.info({ tenant, runId }, "run dispatched once more");
    return seen;
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, tenant, runId }, "run could not be looked after; trying again later");
    return looked;
  }
}
