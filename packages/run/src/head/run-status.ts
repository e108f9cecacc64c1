import { RunStatus, RunStatusSchema } from "@reeve/contracts/run";

const terminal: Readonly<Record<RunStatus, boolean>> = {
  [RunStatus.UNSPECIFIED]: false,
  [RunStatus.QUEUED]: false,
  [RunStatus.STARTING]: false,
  [RunStatus.RUNNING]: false,
  [RunStatus.WAITING]: false,
  [RunStatus.COMPLETED]: true,
  [RunStatus.ERROR]: true,
  [RunStatus.CANCELLED]: true,
};

/** Returns whether a run with this status has ended: only records may follow. */
export function isTerminal(status: RunStatus): boolean {
  return terminal[status] ?? false;
}

/** Returns the name of a status for people and metrics: `completed`, `error`, ... Empty for one of a newer version. */
export function statusName(status: RunStatus): string {
  return RunStatusSchema.value[status]?.localName.toLowerCase() ?? "";
}
