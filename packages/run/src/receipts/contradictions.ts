import { ApprovalState } from "@reeve/contracts/approval";
import { ToolStatus } from "@reeve/contracts/tool";
import type { CallReceipt } from "@reeve/contracts/receipt";

/**
 * Returns where a receipt contradicts itself, in sentences. A deployment that works signs no such receipt: a call is handed out only
 * after its approval, and executed only with the files that the approval showed.
 */
export function contradictions({
  approvals,
  decisions,
  starts,
  result,
}: CallReceipt): readonly string[] {
  const found: string[] = [];
  const byId = new Map(approvals.map((approval) => [approval.approvalId, approval]));
  for (const { approvalId, sequence } of starts) {
    if (approvalId === "") continue;
    const approval = byId.get(approvalId);
    const isPermitted = decisions.some(
      (cast) =>
        cast.approvalId === approvalId &&
        cast.state === ApprovalState.APPROVED &&
        cast.sequence < sequence,
    );
    if (approval === undefined || !isPermitted) {
      found.push(
        `the call was handed out at sequence ${sequence} without the approval ${approvalId}`,
      );
    }
    if (result !== undefined && result.sequence < sequence) {
      found.push(`the call was handed out at sequence ${sequence}, after its result`);
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
