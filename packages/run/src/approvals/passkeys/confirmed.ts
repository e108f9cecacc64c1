import type { Approval, Decision } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Confirmation } from "../votes/may-decide.ts";

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
  if (confirmation?.refusal !== undefined) throw confirmation.refusal;
  if (confirmation !== undefined) return { ...decision, stepUp: confirmation.stepUp };
  const where = url === undefined ? "in the console" : `in the console at ${url}`;
  throw new Failure(
    "precondition",
    ErrorReason.PASSKEY_REQUIRED,
    `approval ${approvalId} needs a passkey: approve it ${where}, or reject it`,
    { metadata: { approval_id: approvalId, run_id: runId, ...(url !== undefined && { url }) } },
  );
}

interface Confirming {
  /** Undefined: there is none. */
  readonly confirmation: Confirmation | undefined;
  /** Whether the decision makes a grant. */
  readonly grants: boolean;
  /** Where people confirm it. */
  readonly url: string | undefined;
}
