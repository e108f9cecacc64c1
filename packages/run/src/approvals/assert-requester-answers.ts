import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import type { Approval } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { requestersOf } from "../head/requesters-of.ts";
import type { RunHead } from "../head/run-head.ts";

/**
 * Throws a Failure of kind `denied` unless a person asked for the run, and the approval is a question of its agent. Nobody decides on
 * calls, or answers questions of tools, without the role APPROVER.
 */
export function assertRequesterAnswers(
  approval: Approval,
  head: Pick<RunHead, "created" | "messages">,
  subject: string,
): void {
  const { approvalId, runId } = approval;
  const problem = !isAgentQuestion(approval)
    ? "it is no question of an agent; a person with the role approver decides it"
    : requestersOf(head).has(subject)
      ? undefined
      : `${subject} neither started the run nor sent it a message; a person with the role approver can answer, or one of those`;
  if (problem === undefined) return;
  throw new Failure(
    "denied",
    ErrorReason.PERMISSION_DENIED,
    `${subject} may not answer ${approvalId}: ${problem}`,
    { metadata: { approval_id: approvalId, run_id: runId, role: "approver" } },
  );
}
