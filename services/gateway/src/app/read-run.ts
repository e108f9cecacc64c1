import { ErrorReason } from "@reeve/contracts/error";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunHead } from "@reeve/run/head/run-head";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import type { RunKey, RunLog } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";

/** Whether an id can be one of a run at all; others would not even name a log. */
const possible = /^run_[a-z0-9]{8,64}$/;

/** The key of a run of the tenant. Throws a Failure of kind `not_found` for an id that no run can have. */
export function runKeyOf(tenant: string, run: string): RunKey {
  if (!possible.test(run)) throw runNotFound(run);
  return { tenant, run };
}

/** The run as it stands. Throws a Failure of kind `not_found` when there is none. */
export async function readRun(log: RunLog, key: RunKey, signal: AbortSignal): Promise<RunHead> {
  const { events } = await log.read(key, emptyTail, signal);
  if (events.length === 0) throw runNotFound(key.run);
  return foldHead(emptyHead, events);
}

export function runNotFound(run: string): Failure {
  return new Failure("not_found", ErrorReason.RUN_NOT_FOUND, `there is no run ${run}`, {
    metadata: { run_id: run },
  });
}
