import { RunStatus } from "@reeve/contracts/run";
import type { AgendaEntry } from "@reeve/jetstream/local-index/agenda";
import type { RunKey, RunTailReader } from "@reeve/jetstream/log/run-log";
import { isTenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import type { Clock } from "@reeve/platform/async/clock";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Ownership } from "@reeve/run/head/ownership";
import { isParked } from "@reeve/run/head/ownership";
import type { RunLists } from "../runs/run-lists.ts";
import { RecentSweeps } from "./recent-sweeps.ts";
import { sweepDue } from "./sweep-due.ts";
import type { SweepPorts, SweepRecord } from "./sweep-run.ts";
import { emptySweepRecord, sweepParked, sweepRun } from "./sweep-run.ts";

/** Interval between rounds. */
const roundMs = 5_000;
/** Minimum interval between sweeps of a run whose deadline is over. */
const minDelayMs = 1_000;
/** Maximum interval between sweeps of a run that is not parked. */
const maxDelayMs = 600_000;
/** Interval between sweeps of a parked run. Whatever needs its dispatch changes its row, which makes it due. */
const parkedDelayMs = 6 * 3_600_000;

export interface SweepRunsPorts extends SweepPorts {
  readonly logEnds: RunTailReader;
  readonly runLists: Pick<RunLists, "agenda">;
  /** The shards of the runs that this gateway sweeps. */
  readonly shards: { readonly owned: readonly number[] };
  /** Serves the deadlines of parked runs. */
  readonly deadlines: Deadlines;
}

/** Serves the deadlines of what parked runs wait for. */
export interface Deadlines {
  /** The time, in milliseconds since the epoch. */
  now(): number;
  /** Records what has expired, so that a worker takes up the run. */
  expire(key: RunKey, nowMs: number, signal: AbortSignal): Promise<void>;
}

/**
 * Sweeps the runs of its shards that have not ended, until `signal` aborts: dispatches those that lost their dispatch, because
 * the process that created, woke, or owned them died, or because their message is gone. Sweeps a run after each of its changes
 * and then at increasing intervals. A restart loses nothing, and several gateways may sweep a run concurrently.
 */
export async function sweepRuns(
  ports: SweepRunsPorts,
  clock: Pick<Clock, "sleep">,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const recent = new RecentSweeps();
  const sweep = (entry: AgendaEntry) => sweepEntry(entry, recent, ports, log, signal);
  const { runLists: lists, shards } = ports;
  await sweepDue({ lists, shards, roundMs }, clock, sweep, signal);
}

async function sweepEntry(
  entry: AgendaEntry,
  recent: RecentSweeps,
  ports: SweepRunsPorts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const [tenant = "", run = ""] = entry.key.split(".");
  const before = recent.of(entry);
  let after = before;
  try {
    after = await sweepOne({ tenant, run }, entry, before, ports, signal);
    if (after.isDispatched)
      log.info({ tenant, runId: run }, "run without a dispatch was dispatched again");
  } catch (error) {
    signal.throwIfAborted();
    if (isTenantKeyDeleted(error)) {
      // Nobody can continue it.
      ports.runLists.agenda?.remove(entry.key);
      recent.forget(entry.key);
      return;
    }
    log.warn({ err: error, tenant, runId: run }, "run was not swept; trying again later");
    // What is known of its log may be the reason.
    after = { ...emptySweepRecord, dispatched: before.dispatched };
  }
  const { agenda } = ports.runLists;
  const { ownership } = after;
  if (ownership.endSequence !== undefined) {
    agenda?.remove(entry.key);
    recent.forget(entry.key);
    return;
  }
  const delayMs = isParked(ownership)
    ? Math.min(parkedDelayMs, Math.max(minDelayMs, untilWakeMs(ownership, ports.deadlines.now())))
    : Math.min(entry.delayMs * 2, maxDelayMs);
  agenda?.postpone(entry, delayMs, recent.keep(entry, after));
}

async function sweepOne(
  key: RunKey,
  { kind }: AgendaEntry,
  before: SweepRecord,
  ports: SweepRunsPorts,
  signal: AbortSignal,
): Promise<SweepRecord> {
  const parked = kind === RunStatus.WAITING ? await sweepParked(ports, key, signal) : undefined;
  const swept = parked ?? (await sweepRun(ports, key, before, signal));
  const nowMs = ports.deadlines.now();
  if (isParked(swept.ownership) && untilWakeMs(swept.ownership, nowMs) <= 0) {
    await ports.deadlines.expire(key, nowMs, signal);
  }
  return swept;
}

/** Returns the time until a parked run has to be woken, in milliseconds. */
function untilWakeMs({ wakeAtMs }: Ownership, nowMs: number): number {
  return wakeAtMs === undefined ? Infinity : wakeAtMs - nowMs;
}
