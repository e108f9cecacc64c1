import type { ApprovalTimes } from "@reeve/agent/approval-times/approval-times";
import { operatorNeedsPasskey } from "@reeve/agent/approval-times/approval-times";
import { agentNeedsPasskey } from "@reeve/agent/deciders/step-up";
import type { Approval, Decision, StepUp } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { PermissionClass } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import type { RunHead } from "../../head/run-head.ts";
import { timedCall } from "../times/decidable.ts";

interface PasskeyRules {
  readonly tenant: string;
  /** The operator's policy. Undefined: there is none. */
  readonly times: ApprovalTimes | undefined;
  /** The run. Undefined: only what the request recorded counts of the agent's policy. */
  readonly head?: Pick<RunHead, "created" | "prepared"> | undefined;
}

/**
 * Whether people approve the call of an approval only with a passkey, by what the request recorded, by the agent's policy, or by the
 * operator's. A runtime of an earlier version records neither the need nor the class of the tool.
 */
export function needsPasskey(approval: Approval, { tenant, times, head }: PasskeyRules): boolean {
  if (approval.question !== undefined) return false;
  if (approval.needsPasskey) return true;
  const call = timedCall(approval, tenant);
  const permissionClass = classOf(approval, head);
  return (
    agentNeedsPasskey(head?.created?.spec?.approvalPolicy, { tool: call.tool, permissionClass }) ||
    operatorNeedsPasskey(times, call, permissionClass)
  );
}

/** Whether each person whose approval counts confirmed it with a passkey. */
export function isConfirmed({ decision, votes }: Approval): boolean {
  if (decision?.stepUp === undefined) return false;
  if (decision.breakGlass !== undefined) return true;
  return votes.every(
    ({ decision: voted }) => voted?.approved !== true || voted.stepUp !== undefined,
  );
}

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

function classOf(
  { permissionClass, call }: Approval,
  head: PasskeyRules["head"],
): PermissionClass | undefined {
  const tool = head?.prepared?.tools.find(({ name }) => name === call?.name);
  const known =
    permissionClass === PermissionClass.UNSPECIFIED ? tool?.permissionClass : permissionClass;
  return known === PermissionClass.UNSPECIFIED ? undefined : known;
}
