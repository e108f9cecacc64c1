import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval, ApprovalEscalation } from "@reeve/contracts/approval";
import { ApprovalEscalationSchema, ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { isTerminal } from "../../head/run-status.ts";
import { approvalOf } from "../../head/run-head.ts";
import { appendExternal } from "../../commands/append-external.ts";
import { withoutApproval } from "../expire-approval.ts";
import { isClosed } from "../assert-open.ts";
import type { DecidingPorts } from "../decide-approval.ts";

/** Returns when the next escalation of a pending approval is due, in milliseconds, or undefined if there is none. */
export function nextEscalationMs({ state, escalations }: Approval): number | undefined {
  if (state !== ApprovalState.PENDING) return undefined;
  const planned = escalations.filter(({ escalatedAt }) => escalatedAt === undefined);
  const dueMs = Math.min(...planned.map(({ dueAt }) => (dueAt ? timestampMs(dueAt) : Infinity)));
  return dueMs === Infinity ? undefined : dueMs;
}

/**
 * Adds what is due of the escalations of an approval to those who may decide, by a fact in the log of its run. Of several processes
 * that do, one appends it. Does nothing if the approval is closed or has expired, or the run has ended. Returns whether what is due was
 * added, now or before. Throws a Failure of kind `unavailable` when the log of an open run is read without the approval.
 */
export async function escalateApproval(
  { log, dispatch, clock }: DecidingPorts,
  key: RunKey,
  approvalId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const after = await appendExternal(
    { log, dispatch },
    key,
    (head) => {
      if (isTerminal(head.status)) return [];
      const approval = approvalOf(head, approvalId);
      if (approval === undefined) throw withoutApproval(approvalId);
      const nowMs = clock.now();
      if (isClosed(approval, head, nowMs)) return [];
      const escalated = escalatedAt(approval, nowMs);
      return escalated === undefined ? [] : [{ case: "approval", value: { approval: escalated } }];
    },
    signal,
  );
  const { escalations = [] } = approvalOf(after, approvalId) ?? {};
  const due = escalations.filter(({ dueAt }) => dueAt && timestampMs(dueAt) <= clock.now());
  return due.length > 0 && due.every(({ revision }) => revision > 0);
}

/** Returns an approval after the escalations that are due at a time, or undefined if none is. */
export function escalatedAt(approval: Approval, nowMs: number): Approval | undefined {
  const revision = approval.revision + 1;
  const isDue = ({ dueAt, escalatedAt: before }: ApprovalEscalation) =>
    before === undefined && dueAt !== undefined && timestampMs(dueAt) <= nowMs;
  const due = approval.escalations.filter(isDue);
  if (due.length === 0) return undefined;
  return create(ApprovalSchema, {
    ...approval,
    revision,
    alternatives: [
      ...approval.alternatives,
      ...due.flatMap(({ alternative }) => alternative ?? []),
    ],
    escalations: approval.escalations.map((each) =>
      isDue(each)
        ? create(ApprovalEscalationSchema, {
            ...each,
            escalatedAt: timestampFromMs(nowMs),
            revision,
          })
        : each,
    ),
  });
}
