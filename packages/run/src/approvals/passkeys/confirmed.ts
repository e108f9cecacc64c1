import type { Approval, Decision, StepUp } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** Returns the decision with how the person confirmed it. Throws a Failure of kind `precondition` or `denied` if the person has not. */
export function confirmed(
  { approvalId, runId }: Approval,
  decision: Decision,
  { confirmation, grants, url }: Confirming,
): Decision {
  if (grants) {
    const why = "each call of the tool is approved with a passkey";
    const message = `no grant can be made with the decision of approval ${approvalId}: ${why}`;
    throw new Failure("precondition", ErrorReason.INVALID_REQUEST, message, {
      violations: [{ field: "grant", description: why, reason: "NOT_APPLICABLE" }],
    });
  }
  if (confirmation !== undefined) return { ...decision, stepUp: confirmation() };
  const where = url === undefined ? "in the console" : `in the console at ${url}`;
  throw new Failure(
    "precondition",
    ErrorReason.PASSKEY_REQUIRED,
    `approval ${approvalId} needs a passkey: approve it ${where}, or reject it`,
    { metadata: { approval_id: approvalId, run_id: runId, ...(url !== undefined && { url }) } },
  );
}

interface Confirming {
  /** Returns how the person confirmed exactly this decision, or throws the Failure of the confirmation. Undefined: there is none. */
  readonly confirmation: (() => StepUp) | undefined;
  /** Whether the decision makes a grant. */
  readonly grants: boolean;
  /** Where people confirm it. */
  readonly url: string | undefined;
}
