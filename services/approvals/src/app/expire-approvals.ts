import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { systemSubjects } from "@reeve/jetstream/audit/system-acts";
import { runOfApproval } from "@reeve/run/approvals/approval-id";
import { expireApproval } from "@reeve/run/approvals/expire-approval";
import { runTogether } from "@reeve/platform/async/run-together";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { PendingApprovals } from "./approval-metrics.ts";
import type { ApprovalPorts } from "./approval-ports.ts";
import { DueTimes } from "./due-times.ts";
import { serveDueTimes, watchDueTimes } from "./serve-due-times.ts";

/**
 * Expires approvals at their expiry time, by a fact in the log of their run, and records each in the audit trail. The times come
 * from the inbox, so that they survive restarts; an approval that has been decided stays decided. An expiry that the store refuses,
 * or whose approval the store does not find in the log of an open run, is retried until it succeeds. Rejects if the watch of the
 * inbox breaks.
 */
export async function expireApprovals(
  ports: ApprovalPorts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const due = new DueTimes();
  const pending = new PendingApprovals();
  const watched = { dueOf: expiryOf, seen: pending.apply.bind(pending) };
  const work = {
    perform: (key: string, until: AbortSignal) => expire(ports, key, until),
    failed: "expiry of an approval was not stored; retrying",
  };
  const { clock } = ports;
  // Together: without the watch, approvals would expire by times that are outdated.
  await runTogether(
    [
      (until) => watchDueTimes(ports, due, watched, until),
      (until) => serveDueTimes(due, work, { clock, log }, until),
    ],
    signal,
  );
}

function expiryOf({ state, expiresAt }: Approval): number | undefined {
  return state === ApprovalState.PENDING && expiresAt ? timestampMs(expiresAt) : undefined;
}

/** Nothing rests on what the inbox or the log lack, unless a gateway has confirmed that the run was deleted. */
async function expire(ports: ApprovalPorts, key: string, signal: AbortSignal): Promise<undefined> {
  const [tenant = "", approvalId = ""] = key.split(".");
  const run = { tenant, run: runOfApproval(approvalId) };
  const { tail } = await ports.logEnds.last(run, signal);
  if (tail.sequence === 0) return undefined;
  const resources = [
    { kind: "approval", id: approvalId },
    { kind: "run", id: run.run },
  ];
  const act = { tenant, subject: systemSubjects.expiry, action: "approval.expire", resources };
  // Several processes may find that it has expired.
  await ports.recordAct({ ...act, actId: `expiry.${key}` }, () =>
    expireApproval(ports, run, approvalId, signal),
  );
  return undefined;
}
