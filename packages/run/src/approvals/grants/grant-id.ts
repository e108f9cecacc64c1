import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** Returns the id of the grant that is made with the decision of an approval: one at most. */
export function grantIdOf(approvalId: string): string {
  return `grt_${approvalId.replace(/^run_/, "")}`;
}

/** Returns the id of the approval with whose decision a grant is made. */
export function approvalOfGrant(grantId: string): string {
  return grantId.replace(/^grt_/, "run_");
}

/** Throws a Failure of kind `not_found` for a text that is no id of a grant. */
export function assertGrantId(grantId: string): void {
  if (!/^grt_[a-z0-9]{8,64}(?:-\d+){2}(?:-r\d+)?$/.test(grantId)) throw grantNotFound(grantId);
}

export function grantNotFound(grantId: string): Failure {
  return new Failure(
    "not_found",
    ErrorReason.APPROVAL_NOT_FOUND,
    `grant ${grantId} not found, or it has expired; list the grants for their ids`,
    { metadata: { grant_id: grantId } },
  );
}
