import { WorkBudget } from "@reeve/agent/schema/work-budget";
import type { Approval, Grant } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import { grantProblem, isCandidate } from "@reeve/run/approvals/grants/grant-problem";
import { maxRuleWork } from "@reeve/run/approvals/grants/matches-rule";
import { foldRun } from "@reeve/run/commands/fold-run";
import { approvalOf } from "@reeve/run/head/run-head";
import { isTerminal } from "@reeve/run/head/run-status";
import type { ApprovalPorts } from "../approval-ports.ts";

/**
 * Returns those of the grants that decide an approval by the log of its run. Reads the log only if one may. Throws a Failure of kind
 * `unavailable` if the log of an open run, as it was read, lacks the approval: a server that lags answered.
 */
export async function applicableGrants(
  { log, clock }: Pick<ApprovalPorts, "log" | "clock">,
  run: RunKey,
  { approval, grants }: { readonly approval: Approval; readonly grants: readonly Grant[] },
  signal: AbortSignal,
): Promise<readonly Grant[]> {
  const candidates = grants.filter((grant) => isCandidate(grant, approval, clock.now()));
  if (candidates.length === 0) return [];
  const { events } = await log.read(run, emptyTail, signal);
  const head = await foldRun(events, signal);
  const requested = approvalOf(head, approval.approvalId);
  if (requested === undefined) {
    // Of a run that was deleted nothing is left, and the inbox follows.
    if (events.length === 0 || isTerminal(head.status)) return [];
    throw notYetRead(approval);
  }
  // Shared, so that many grants do not take more than one.
  const work = new WorkBudget(maxRuleWork);
  return candidates.filter((grant) => grantProblem(grant, requested, head, work) === undefined);
}

function notYetRead({ approvalId }: Approval): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `the log of approval ${approvalId} was read before the approval was in it; read it again`,
  );
}
