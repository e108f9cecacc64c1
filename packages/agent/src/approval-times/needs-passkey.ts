import type { AgentSpec } from "@reeve/contracts/agent";
import type { Approval, Decision } from "@reeve/contracts/approval";
import { canonicalJson } from "@reeve/contracts/digest/canonical-json";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import { agentNeedsPasskey } from "../deciders/step-up.ts";
import type { ApprovalTimes } from "./approval-times.ts";
import { operatorNeedsPasskey } from "./approval-times.ts";
import { timedCall } from "./timed-call.ts";

/** What is known of the run of an approval. */
interface RunOfApproval {
  readonly created?: { readonly spec?: Pick<AgentSpec, "approvalPolicy"> | undefined } | undefined;
  readonly prepared?:
    | { readonly tools: readonly Pick<ToolDescriptor, "name" | "permissionClass">[] }
    | undefined;
}

interface PasskeyRules {
  readonly tenant: string;
  /** The operator's policy. Undefined: there is none. */
  readonly times: ApprovalTimes | undefined;
  /** The run. Undefined: only what the request recorded counts of the agent's policy. */
  readonly head?: RunOfApproval | undefined;
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

/**
 * Whether enough people confirmed an approval with a passkey: the one who decided, and as many as each alternative requires that
 * was reached. Approvals with different arguments do not add up.
 */
export function isConfirmed({ decision, votes, alternatives }: Approval): boolean {
  if (decision?.stepUp === undefined) return false;
  if (decision.breakGlass !== undefined || alternatives.length === 0) return true;
  const edited = argumentsOf(decision);
  const confirming = votes.filter(
    ({ decision: voted }) =>
      voted?.approved === true && voted.stepUp !== undefined && argumentsOf(voted) === edited,
  );
  const reached = alternatives.filter((each) => each.approvalsGiven >= each.approvals);
  return (
    reached.length > 0 &&
    reached.every(
      ({ name, approvals }) =>
        confirming.filter(({ countsFor }) => countsFor.includes(name)).length >= approvals,
    )
  );
}

function argumentsOf({ editedArguments }: Decision): string {
  return canonicalJson(editedArguments ?? null);
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
