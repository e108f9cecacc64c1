import { ErrorReason } from "@reeve/contracts/error";
import { emptyTail } from "@reeve/jetstream/log/port";
import { foldRun } from "@reeve/run/commands/fold-run";
import type { RunHead } from "@reeve/run/head/run-head";
import type { RunKey, RunLog } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";

/** The format of run ids. Other texts may not even be valid in the subject of a log. */
const runIdPattern = /^run_[a-z0-9]{8,64}$/;

/** Returns the key of a tenant's run. Throws a Failure of kind `not_found` for an id that no run can have. */
export function runKeyOf(tenant: string, run: string): RunKey {
  if (!runIdPattern.test(run)) throw runNotFound(run);
  return { tenant, run };
}

/** Reads the current state of a run. Throws a Failure of kind `not_found` if the run does not exist. */
export async function readRun(log: RunLog, key: RunKey, signal: AbortSignal): Promise<RunHead> {
  const { events } = await log.read(key, emptyTail, signal);
  if (events.length === 0) throw runNotFound(key.run);
  return await foldRun(events, signal);
}

export function runNotFound(run: string): Failure {
  return new Failure(
    "not_found",
    ErrorReason.RUN_NOT_FOUND,
    `run ${run} not found; list the runs for their ids`,
    {
      metadata: { run_id: run },
    },
  );
}
