import { create } from "@bufbuild/protobuf";
import type { AnswerQuestionRequest, Approval } from "@reeve/contracts/approval";
import { DecideApprovalRequestSchema } from "@reeve/contracts/approval";
import type { DecidingPorts } from "./decide-approval.ts";
import { decideApproval } from "./decide-approval.ts";
import type { Decider } from "./votes/count-vote.ts";

/** Answers a question of an agent as somebody who asked for its run, or declines it. Otherwise as `decideApproval`. */
export async function answerQuestion(
  ports: DecidingPorts,
  person: Decider,
  { approvalId, declined, answer, reason, decisionId }: AnswerQuestionRequest,
  signal: AbortSignal,
): Promise<Approval> {
  const request = create(DecideApprovalRequestSchema, {
    approvalId,
    approved: !declined,
    reason,
    decisionId,
    ...(answer && { answer }),
  });
  return decideApproval(ports, { ...person, as: "requester" }, request, signal);
}
