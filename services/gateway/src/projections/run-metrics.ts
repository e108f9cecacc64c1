import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Run } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { isTerminal, statusName } from "@reeve/run/head/run-status";
import { counter, histogram } from "@reeve/platform/telemetry/metrics";

const runs = counter({
  name: "reeve_runs_total",
  help: "Runs that ended, by status. Each run is counted by one gateway.",
  labels: ["status"],
});
const seconds = histogram({
  name: "reeve_run_duration_seconds",
  help: "Time from the start of a run to its end, waiting included, by status.",
  labels: ["status"],
  buckets: [0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400],
});
for (const status of [RunStatus.COMPLETED, RunStatus.ERROR, RunStatus.CANCELLED]) {
  runs.inc({ status: statusName(status) }, 0);
}

/** Counts a run whose row says for the first time that the run has ended. */
export function countEnd(before: Run | undefined, { status, createdAt, endedAt }: Run): void {
  if (!isTerminal(status) || (before !== undefined && isTerminal(before.status))) return;
  runs.inc({ status: statusName(status) });
  if (createdAt === undefined || endedAt === undefined) return;
  const tookMs = timestampMs(endedAt) - timestampMs(createdAt);
  seconds.observe({ status: statusName(status) }, Math.max(tookMs, 0) / 1_000);
}
