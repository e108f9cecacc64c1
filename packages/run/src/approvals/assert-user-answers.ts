import type { Approval } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import { Failure } from "@reeve/platform/failure";
import type { RunHead } from "../head/run-head.ts";

/**
 * Throws a Failure of kind `denied` for an answer to the agent of a run that has the memories of another person. An answer is a message:
 * the agent could be told to recall and to repeat them. The reason of a refusal to answer is one, too.
 */
export function assertUserAnswers(
  approval: Approval,
  { created }: Pick<RunHead, "created">,
  subject: string,
): void {
  if (!isAgentQuestion(approval) || created?.memoryEnabled !== true) return;
  const { startedBy } = created;
  if (startedBy === subject) return;
  const { approvalId, runId } = approval;
  throw new Failure(
    "denied",
    ErrorReason.PERMISSION_DENIED,
    `run ${runId} has the memories of its user, ${startedBy}; nobody else may answer ${approvalId}, or decline to`,
    { metadata: { approval_id: approvalId, run_id: runId } },
  );
}
