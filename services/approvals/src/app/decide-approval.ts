import { create, equals } from "@bufbuild/protobuf";
import { StructSchema, timestampNow } from "@bufbuild/protobuf/wkt";
import type { JsonObject } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import type { Approval, DecideApprovalRequest, Decision } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState, DecisionSchema } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { commitForeign } from "@reeve/log/commit-foreign";
import type { RunHead } from "@reeve/log/run-head";
import { isTerminal } from "@reeve/log/run-head";
import { Failure } from "@reeve/platform/failure";
import type { Principal } from "@reeve/platform/principal";
import type { ApprovalPorts } from "./approval-ports.ts";
import { noSuchApproval, runOfApproval } from "./approval-id.ts";

/**
 * Decides an approval, by a fact in the log of its run: whoever appends first has decided. The same decision with the same
 * id is answered as the first time; any other is refused with what stands.
 */
export async function decideApproval(
  { log, dispatch }: Pick<ApprovalPorts, "log" | "dispatch">,
  { tenant, subject }: Principal,
  request: DecideApprovalRequest,
  signal: AbortSignal,
): Promise<Approval> {
  const { approvalId } = request;
  const decision = create(DecisionSchema, {
    decisionId: request.decisionId,
    approved: request.approved,
    reason: request.reason,
    decidedBy: subject,
    decidedAt: timestampNow(),
    ...(request.editedArguments && { editedArguments: request.editedArguments }),
  });
  const key = { tenant, run: runOfApproval(approvalId) };
  const head = await commitForeign(
    { log, dispatch },
    key,
    (before) => {
      const approval = before.approvals.get(approvalId);
      if (approval === undefined) throw noSuchApproval(approvalId);
      if (isRepetition(approval, decision)) return [];
      assertOpen(approval, before);
      if (decision.editedArguments !== undefined && !approval.allowEditedArguments) {
        throw editsNotAllowed(approval);
      }
      const state = decision.approved ? ApprovalState.APPROVED : ApprovalState.REJECTED;
      const decided = create(ApprovalSchema, { ...approval, state, decision });
      return [{ case: "approval", value: { approval: decided } }];
    },
    signal,
  );
  const decided = head.approvals.get(approvalId);
  if (decided === undefined) throw noSuchApproval(approvalId);
  return decided;
}

function isRepetition({ decision: stands }: Approval, decision: Decision): boolean {
  return (
    stands !== undefined &&
    decision.decisionId !== "" &&
    stands.decisionId === decision.decisionId &&
    stands.approved === decision.approved &&
    stands.reason === decision.reason &&
    isSame(stands.editedArguments, decision.editedArguments)
  );
}

function isSame(a: JsonObject | undefined, b: JsonObject | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return equals(StructSchema, fromJson(StructSchema, a), fromJson(StructSchema, b));
}

function assertOpen(approval: Approval, { status }: RunHead): void {
  if (approval.state === ApprovalState.PENDING && !isTerminal(status)) return;
  const { approvalId, decision } = approval;
  throw new Failure(
    "precondition",
    ErrorReason.APPROVAL_CLOSED,
    `approval ${approvalId} is closed: ${closedBecause(approval, decision)}`,
    { metadata: { approval_id: approvalId, run_id: approval.runId } },
  );
}

function closedBecause({ state }: Approval, decision: Decision | undefined): string {
  const by = decision === undefined ? "" : ` by ${decision.decidedBy}`;
  switch (state) {
    case ApprovalState.APPROVED:
      return `it was approved${by}`;
    case ApprovalState.REJECTED:
      return `it was rejected${by}`;
    case ApprovalState.TIMED_OUT:
      return "it expired";
    default:
      return "its run has ended";
  }
}

function editsNotAllowed({ approvalId, agentId }: Approval): Failure {
  const message = `agent ${agentId} does not permit other arguments for approval ${approvalId}; set approval_policy.allow_edited_arguments`;
  return new Failure("precondition", ErrorReason.INVALID_REQUEST, message, {
    violations: [
      { field: "edited_arguments", description: "are not permitted", reason: "NOT_PERMITTED" },
    ],
  });
}
