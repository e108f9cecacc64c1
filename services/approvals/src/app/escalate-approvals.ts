import { systemSubjects } from "@reeve/jetstream/audit/system-acts";
import { runTogether } from "@reeve/platform/async/run-together";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { runOfApproval } from "@reeve/run/approvals/approval-id";
import { escalateApproval, nextEscalationMs } from "@reeve/run/approvals/times/escalate-approval";
import type { ApprovalPorts } from "./approval-ports.ts";
import { DueTimes } from "./due-times.ts";
import { serveDueTimes, watchDueTimes } from "./serve-due-times.ts";

/**
 * Lets more people decide on approvals that have waited as long as their policies say, by a fact in the log of the run, and records each
 * in the audit trail. As with expiries, the times come from the inbox, and what the store refuses is retried. Rejects if the watch of
 * the inbox breaks.
 */
export async function escalateApprovals(
  ports: ApprovalPorts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const due = new DueTimes();
  const work = {
    perform: (key: string, until: AbortSignal) => escalate(ports, key, until),
    failed: "escalation of an approval was not stored; retrying",
  };
  const { clock } = ports;
  await runTogether(
    [
      (until) => watchDueTimes(ports, due, { dueOf: nextEscalationMs }, until),
      (until) => serveDueTimes(due, work, { clock, log }, until),
    ],
    signal,
  );
}

async function escalate(
  ports: ApprovalPorts,
  key: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const row = await ports.inbox.get(key, signal);
  const dueMs = row && nextEscalationMs(row.record);
  if (dueMs === undefined || dueMs > ports.clock.now()) return dueMs;
  const [tenant = "", approvalId = ""] = key.split(".");
  const run = { tenant, run: runOfApproval(approvalId) };
  const { tail } = await ports.logEnds.last(run, signal);
  // A gateway has confirmed that the run was deleted.
  if (tail.sequence === 0) return undefined;
  const resources = [
    { kind: "approval", id: approvalId },
    { kind: "run", id: run.run },
  ];
  const subject = systemSubjects.escalation;
  const act = { tenant, subject, action: "approval.escalate", resources };
  // Several processes may find that it is due.
  await ports.recordAct({ ...act, actId: `escalation.${key}.${dueMs}` }, () =>
    escalateApproval(ports, run, approvalId, signal),
  );
  return undefined;
}
