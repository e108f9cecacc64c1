import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { NotificationEvent } from "@reeve/contracts/notification";
import type { RunFeedBatch } from "@reeve/jetstream/feed/run-feed";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { leavesApprovals, withdrawnApprovals } from "../app/withdrawn-approvals.ts";

/** Something that happened to an approval and that receivers may want to know. */
export interface ApprovalFact {
  readonly tenant: string;
  readonly event: NotificationEvent;
  readonly occurredAt: Timestamp | undefined;
  /** The approval after it. */
  readonly approval: Approval;
}

/**
 * Returns what a batch of a run's log says about approvals: that they were requested, escalated, or resolved. The end of a run resolves those
 * that it leaves pending. Votes are not among it.
 */
export async function approvalFactsOf(
  log: Pick<RunLog, "read">,
  batch: Pick<RunFeedBatch, "key" | "events">,
  signal: AbortSignal,
): Promise<readonly ApprovalFact[]> {
  const { tenant } = batch.key;
  const facts: ApprovalFact[] = [];
  for (const { event, time: occurredAt } of batch.events) {
    if (event.case === "approval" && event.value.approval !== undefined) {
      const { approval } = event.value;
      const what = eventOf(approval);
      if (what !== undefined) facts.push({ tenant, event: what, occurredAt, approval });
      if (isBrokenGlass(approval)) {
        facts.push({ tenant, event: NotificationEvent.BREAK_GLASS, occurredAt, approval });
      }
    } else if (event.case === "status" && leavesApprovals(event.value.status)) {
      for (const approval of await withdrawnApprovals(log, batch, signal)) {
        facts.push({ tenant, event: NotificationEvent.RESOLVED, occurredAt, approval });
      }
    }
  }
  return facts;
}

/** Its files may change after the decision. */
function isBrokenGlass({ state, decision }: Approval): boolean {
  return state === ApprovalState.APPROVED && decision?.breakGlass !== undefined;
}

function eventOf({ state, revision, escalations }: Approval): NotificationEvent | undefined {
  if (state !== ApprovalState.PENDING) return NotificationEvent.RESOLVED;
  if (revision === 0) return NotificationEvent.REQUESTED;
  const isEscalated = escalations.some((each) => each.revision === revision);
  return isEscalated ? NotificationEvent.ESCALATED : undefined;
}
