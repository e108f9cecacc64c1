import type { Approval } from "@reeve/contracts/approval";
import { GateKind } from "@reeve/contracts/approval";

/**
 * Whether a decision about a call may make a rule, as far as the page knows: not for questions, nodes of workflows, calls of delegates,
 * calls that need a passkey, and where one person alone may not decide.
 */
export function mayGrant(approval: Approval): boolean {
  const { question, gates, delegateId, agentId, needsPasskey, call, alternatives } = approval;
  return (
    question === undefined &&
    call?.arguments !== undefined &&
    !gates.includes(GateKind.WORKFLOW) &&
    delegateId === "" &&
    agentId !== "" &&
    !needsPasskey &&
    (alternatives.length === 0 || alternatives.some(({ approvals }) => approvals <= 1))
  );
}
