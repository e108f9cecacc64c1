import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Dispatch } from "@reeve/contracts/run";
import type { WorkerPresence } from "@reeve/contracts/worker-presence";
import { WorkerPresenceSchema } from "@reeve/contracts/worker-presence";
import type { Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { ModelActivity } from "./model-activity.ts";

/** Interval between two writes of the row. A row expires after six of them. */
const writeIntervalMs = 5_000;
/** Time limit for removing the row at the end. */
const removeTimeoutMs = 2_000;
const maxRuns = 100;

export interface WorkerState {
  /** The name of this worker. */
  readonly worker: string;
  /** Maximum number of runs that it drives concurrently. */
  readonly slots: number;
  /** Returns the runs that it drives now. */
  readonly runs: () => readonly Dispatch[];
  readonly activity: Pick<ModelActivity, "rows">;
  readonly clock: Pick<Clock, "now" | "sleep">;
  readonly log: Pick<Logger, "warn">;
}

/**
 * Reports what this worker does, for operators, until it is disposed, which removes its row; from the time at which `draining` aborts, that
 * it is shutting down. Runs do not depend on it: it logs a row that cannot be written, and tries again.
 */
export function keepPresence(
  table: Pick<Table<WorkerPresence>, "put" | "delete">,
  state: WorkerState,
  draining: AbortSignal,
): AsyncDisposable {
  const end = new AbortController();
  const kept = writeUntilEnd(table, state, { draining, ended: end.signal });
  return {
    [Symbol.asyncDispose]: async () => {
      end.abort(new DOMException("the worker ends", "AbortError"));
      await kept;
      // A row that is not removed expires.
      const timeout = AbortSignal.timeout(removeTimeoutMs);
      await table.delete(state.worker, timeout).catch(() => undefined);
    },
  };
}

async function writeUntilEnd(
  table: Pick<Table<WorkerPresence>, "put">,
  state: WorkerState,
  { draining, ended }: { readonly draining: AbortSignal; readonly ended: AbortSignal },
): Promise<void> {
  const { worker, clock, log } = state;
  const since = timestampFromMs(clock.now());
  let hasFailed = false;
  while (!ended.aborted) {
    try {
      await table.put(worker, rowOf(state, since, draining.aborted), ended);
      hasFailed = false;
    } catch (error) {
      if (ended.aborted) return;
      if (!hasFailed) log.warn({ err: error }, "the presence of this worker was not written");
      hasFailed = true;
    }
    const until = draining.aborted ? ended : AbortSignal.any([draining, ended]);
    await clock.sleep(writeIntervalMs, until).catch(() => undefined);
  }
}

function rowOf(
  { worker, slots, runs, activity }: WorkerState,
  since: Timestamp,
  draining: boolean,
): WorkerPresence {
  const driven = runs();
  return create(WorkerPresenceSchema, {
    worker,
    slots,
    active: driven.length,
    draining,
    since,
    runs: driven.slice(0, maxRuns).map(({ tenant, runId }) => ({ tenant, runId })),
    modelCalls: [...activity.rows()],
  });
}
