import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  Approval,
  AssignApprovalRequest,
  CommentApprovalRequest,
} from "@reeve/contracts/approval";
import {
  ApprovalAssignmentSchema,
  ApprovalCommentSchema,
  ApprovalSchema,
} from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { appendExternal } from "../../commands/append-external.ts";
import { parkedAgain } from "../../commands/parked-again.ts";
import { approvalOf } from "../../head/run-head.ts";
import { approvalNotFound, runOfApproval } from "../approval-id.ts";
import { assertOpen } from "../assert-open.ts";
import type { DecidingPorts } from "../decide-approval.ts";
import { missingApproval, searching } from "../stale-reads.ts";
import type { Decider } from "../votes/may-decide.ts";

/** How many comments an approval has at most, and how often it changes before it takes no more notes. Each is a fact with the whole call. */
const [maxComments, maxRevision] = [50, 200];
/** How large an approval may be with its notes. It needs room for the decision, in a fact of a mebibyte at most. */
const maxBytes = 768 * 1024;

/**
 * Adds a comment to a pending approval, by a fact in the log of its run. It decides nothing. A comment with the id of one that the
 * person has made changes nothing.
 */
export async function commentApproval(
  ports: DecidingPorts,
  { tenant, subject }: Decider,
  { approvalId, text, commentId }: CommentApprovalRequest,
  signal: AbortSignal,
): Promise<Approval> {
  return await annotate(ports, { tenant, approvalId }, signal, (approval, nowMs) => {
    const isRepeated = approval.comments.some(
      (each) => commentId !== "" && each.commentId === commentId && each.commentedBy === subject,
    );
    if (isRepeated) return undefined;
    if (approval.comments.length >= maxComments) throw tooMany(approval, `${maxComments} comments`);
    const comment = create(ApprovalCommentSchema, {
      commentId,
      text,
      commentedBy: subject,
      commentedAt: timestampFromMs(nowMs),
    });
    return { ...approval, comments: [...approval.comments, comment] };
  });
}

/** Says who takes care of a pending approval, by a fact in the log of its run. It changes no right. */
export async function assignApproval(
  ports: DecidingPorts,
  { tenant, subject }: Decider,
  { approvalId, assignee }: AssignApprovalRequest,
  signal: AbortSignal,
): Promise<Approval> {
  return await annotate(ports, { tenant, approvalId }, signal, (approval, nowMs) => {
    if ((approval.assignment?.assignee ?? "") === assignee) return undefined;
    const assignment = create(ApprovalAssignmentSchema, {
      assignee,
      assignedBy: subject,
      assignedAt: timestampFromMs(nowMs),
    });
    return { ...approval, assignment };
  });
}

/** Appends an approval with what `change` adds to it, while it is pending. Undefined: it is there already. */
async function annotate(
  ports: DecidingPorts,
  { tenant, approvalId }: { readonly tenant: string; readonly approvalId: string },
  signal: AbortSignal,
  change: (approval: Approval, nowMs: number) => Approval | undefined,
): Promise<Approval> {
  const key = { tenant, run: runOfApproval(approvalId) };
  const append = () =>
    appendExternal(
      ports,
      key,
      (before) => {
        const approval = approvalOf(before, approvalId);
        if (approval === undefined) throw missingApproval(before, approvalId);
        const nowMs = ports.clock.now();
        const changed = change(approval, nowMs);
        if (changed === undefined) return [];
        assertOpen(approval, before, nowMs);
        if (approval.revision >= maxRevision) throw tooMany(approval, `${maxRevision} changes`);
        const next = create(ApprovalSchema, { ...changed, revision: approval.revision + 1 });
        if (toBinary(ApprovalSchema, next).length > maxBytes)
          throw tooMany(approval, "large arguments");
        return [{ case: "approval", value: { approval: next } }, ...parkedAgain(before)];
      },
      signal,
    );
  const head = await searching(ports, approvalId, append, signal);
  const annotated = approvalOf(head, approvalId);
  if (annotated === undefined) throw approvalNotFound(approvalId);
  return annotated;
}

function tooMany({ approvalId, runId }: Approval, what: string): Failure {
  const message = `approval ${approvalId} has ${what}, and takes no more; decide it`;
  return new Failure("exhausted", ErrorReason.TOO_LARGE, message, {
    metadata: { approval_id: approvalId, run_id: runId },
  });
}
