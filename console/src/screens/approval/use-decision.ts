import { useMutation } from "@connectrpc/connect-query";
import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalService } from "@reeve/contracts/approval";
import { newId } from "../../api/new-id.ts";

/** What a person decides. */
export interface Decided {
  readonly approved: boolean;
  readonly reason: string;
  /** The edited arguments of a call, or the answer to a question. Undefined: the arguments of the model. */
  readonly content: JsonObject | undefined;
}

/**
 * Sends the decision of a person about an approval. A question of an agent is answered as somebody who asked for its run, or else with the
 * role approver.
 */
export function useDecision(
  approval: Approval,
  onDecided: ((decided: Approval | undefined) => void) | undefined,
) {
  const decide = useMutation(ApprovalService.method.decideApproval);
  const answer = useMutation(ApprovalService.method.answerQuestion);
  const onSuccess = ({ approval: decided }: { readonly approval?: Approval | undefined }) =>
    onDecided?.(decided);
  const { approvalId, callDigest, question } = approval;
  const asApprover = ({ approved, reason, content }: Decided) => {
    const named = question === undefined ? { editedArguments: content } : { answer: content };
    const edited = approved && content !== undefined && named;
    decide.mutate(
      { approvalId, approved, reason, callDigest, decisionId: newId(), ...edited },
      { onSuccess },
    );
  };
  const submit = (decided: Decided) => {
    if (!isAgentQuestion(approval)) return asApprover(decided);
    const { approved, reason, content } = decided;
    const given = approved && content !== undefined && { answer: content };
    answer.mutate(
      { approvalId, declined: !approved, reason, decisionId: newId(), ...given },
      { onSuccess, onError: (error) => isDenied(error) && asApprover(decided) },
    );
  };
  const refusal = answer.error !== null && !isDenied(answer.error) ? answer.error : decide.error;
  return { submit, isPending: decide.isPending || answer.isPending, error: refusal };
}

function isDenied(error: unknown): boolean {
  return ConnectError.from(error).code === Code.PermissionDenied;
}
