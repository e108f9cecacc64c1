import type { Approval } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** Throws a Failure for a decision about another call than the one that waits. */
export function assertSameCall({ approvalId, runId, callDigest }: Approval, decided: string): void {
  if (decided === callDigest) return;
  throw new Failure(
    "precondition",
    ErrorReason.APPROVAL_MISMATCH,
    `the decision is about the call ${decided || "without a digest"}, but approval ${approvalId} is for the call ${callDigest || "without a digest"}; read the approval again and decide on what it shows`,
    { metadata: { approval_id: approvalId, run_id: runId, call_digest: callDigest } },
  );
}
