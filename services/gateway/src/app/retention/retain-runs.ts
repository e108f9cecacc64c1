import { ErrorReason } from "@reeve/contracts/error";
import type { Projection } from "@reeve/contracts/projection";
import type { Run } from "@reeve/contracts/run";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { ProjectionPorts } from "@reeve/jetstream/projection/keep-projection";
import { keepProjection } from "@reeve/jetstream/projection/keep-projection";
import type { Table } from "@reeve/jetstream/table/port";
import type { RecordAct, SystemAct } from "@reeve/jetstream/audit/system-acts";
import { systemSubjects } from "@reeve/jetstream/audit/system-acts";
import { Failure } from "@reeve/platform/failure";
import type { DeletePorts } from "../delete/delete-run.ts";
import { deleteRun } from "../delete/delete-run.ts";
import type { RetentionPolicy } from "./expired-runs.ts";
import { expiredRuns } from "./expired-runs.ts";

/** Interval between searches for expired runs. */
const intervalMs = 600_000;

interface RetainPorts extends DeletePorts {
  readonly runs: Table<Run>;
  /** Where gateways agree on the one that deletes. */
  readonly states: Table<Projection>;
  readonly recordAct: RecordAct;
}

/**
 * Deletes the runs that the policy does not keep, until `signal` aborts, as `deleteRun` does, and records each in the audit trail. Of several gateways, one deletes;
 * another takes over when it dies.
 */
export async function retainRuns(
  ports: RetainPorts,
  policy: RetentionPolicy,
  { process, clock, log }: Pick<ProjectionPorts<RunKey>, "process" | "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const { runs, states, recordAct } = ports;
  const table = {
    name: "retention",
    instance: () => Promise.resolve("runs"),
    compare: ({ key }: { readonly key: RunKey }, _: unknown, until: AbortSignal) =>
      recordAct(deletionOf(key), () => deleteRun(ports, key, until).catch(unlessContinued)),
  };
  const catalog = expiredRuns({ runs, clock }, policy);
  const task = { name: "deletion of expired runs", intervalMs };
  await keepProjection({ table, catalog, states, process, clock, log, task }, signal);
}

function deletionOf({ tenant, run }: RunKey): SystemAct {
  const resources = [{ kind: "run", id: run }];
  return { tenant, subject: systemSubjects.retention, action: "run.delete", resources };
}

/** A run that another run continues is deleted in a search after that run has expired too. */
function unlessContinued(error: unknown): boolean {
  if (error instanceof Failure && error.reason === ErrorReason.RUN_CONTINUED) return false;
  throw error;
}
