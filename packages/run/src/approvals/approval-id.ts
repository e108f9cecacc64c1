import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** Returns the run id that an approval id begins with. Throws a Failure of kind `not_found` for any other text. */
export function runOfApproval(approvalId: string): string {
  const [, run] = /^(run_[a-z0-9]{8,64})-\d+-\d+(?:-r\d+)?(?:-q\d+-\d+)?$/.exec(approvalId) ?? [];
  if (run === undefined) throw approvalNotFound(approvalId);
  return run;
}

export function approvalNotFound(approvalId: string): Failure {
  return new Failure(
    "not_found",
    ErrorReason.APPROVAL_NOT_FOUND,
    `approval ${approvalId} not found; list the approvals for their ids`,
    { metadata: { approval_id: approvalId } },
  );
}
