import type { Approval } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import { Failure } from "@reeve/platform/failure";
import { isPrivateRun } from "../head/private-run.ts";
import type { RunHead } from "../head/run-head.ts";

/**
 * Throws a Failure of kind `denied` for an answer to the agent of a run with private data of another person. An answer is a message:
 * the agent could be told to look up and to repeat it. The reason of a refusal to answer is one, too.
 */
export function assertUserAnswers(
  approval: Approval,
  { created }: Pick<RunHead, "created">,
  subject: string,
): void {
  if (!isAgentQuestion(approval) || created === undefined || !isPrivateRun(created)) return;
  const { startedBy } = created;
  if (startedBy === subject) return;
  const { approvalId, runId } = approval;
  throw new Failure(
    "denied",
    ErrorReason.PERMISSION_DENIED,
    `run ${runId} has private data of its user, ${startedBy}; nobody else may answer ${approvalId}, or decline to`,
    { metadata: { approval_id: approvalId, run_id: runId } },
  );
}
