import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { ToolStatus } from "@reeve/contracts/tool";
import type { CallReceipt, CastDecision } from "@reeve/contracts/receipt";

/**
 * Returns where a receipt contradicts itself, in sentences. A deployment that works signs no such receipt: a call is handed out only
 * after its approval, by those and at the time that the policy requires, and executed only with the files that the approval showed.
 */
export function contradictions({
  approvals,
  decisions,
  starts,
  result,
  end,
}: CallReceipt): readonly string[] {
  const found: string[] = [];
  const byId = new Map(approvals.map((approval) => [approval.approvalId, approval]));
  for (const { approvalId, sequence } of starts) {
    if (approvalId === "") continue;
    const approval = byId.get(approvalId);
    const deciding = decisions.find(
      (cast) =>
        cast.approvalId === approvalId &&
        cast.state === ApprovalState.APPROVED &&
        cast.sequence < sequence,
    );
    if (approval === undefined || deciding === undefined) {
      found.push(
        `the call was handed out at sequence ${sequence} without the approval ${approvalId}`,
      );
    } else {
      const problem = permitProblem(approval, deciding);
      if (problem !== undefined) {
        found.push(`the call was handed out at sequence ${sequence}, although ${problem}`);
      }
    }
    const closing = result ?? end;
    if (closing !== undefined && closing.sequence < sequence) {
      const what = result === undefined ? "the end of its run" : "its result";
      found.push(`the call was handed out at sequence ${sequence}, after ${what}`);
    }
  }
  const counted = byId.get(result?.approvalId ?? "");
  const isPermitted = counted === undefined || counted.state === ApprovalState.APPROVED;
  if (result?.status === ToolStatus.SUCCESS && !isPermitted) {
    found.push(`the call succeeded, but its approval ${result.approvalId} does not permit it`);
  }
  const decidedOn = counted?.content?.digest ?? "";
  const executedWith = result?.boundContentDigest ?? "";
  if (decidedOn !== "" && executedWith !== "" && decidedOn !== executedWith) {
    found.push(
      `the call was executed with the files ${executedWith}, but ${decidedOn} was approved`,
    );
  }
  return found;
}

/**
 * Returns why the decision that closed an approval did not permit the call. A person who breaks the glass needs neither votes nor a
 * time, but the passkey.
 */
function permitProblem(
  { approvalId, alternatives, excludedSubjects, decidableAfter, needsPasskey }: Approval,
  { decision, recordedAt }: CastDecision,
): string | undefined {
  if (needsPasskey && decision !== undefined && decision.stepUp === undefined) {
    return `approval ${approvalId} was given without the passkey that its policy requires`;
  }
  if (decision === undefined || decision.breakGlass !== undefined) return undefined;
  const { decidedBy } = decision;
  if (excludedSubjects.includes(decidedBy)) {
    return `${decidedBy} might not decide approval ${approvalId}`;
  }
  const isReached = alternatives.some((each) => each.approvalsGiven >= each.approvals);
  if (alternatives.length > 0 && !isReached) {
    return `approval ${approvalId} did not have the votes that its policy requires`;
  }
  const decidedAt = decision.decidedAt ?? recordedAt;
  const isEarly =
    decidableAfter !== undefined &&
    (decidedAt === undefined || timestampMs(decidedAt) < timestampMs(decidableAfter));
  return isEarly
    ? `approval ${approvalId} could not be given before ${timestampDate(decidableAfter).toISOString()}`
    : undefined;
}
