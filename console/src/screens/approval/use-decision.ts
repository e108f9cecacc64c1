import { useMutation } from "@connectrpc/connect-query";
import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalService } from "@reeve/contracts/approval";
import { PasskeyService } from "@reeve/contracts/passkey";
import { useState } from "react";
import { newId } from "../../api/new-id.ts";
import { problemOf } from "../../api/problem.ts";
import { confirmWithPasskey } from "../../api/passkeys.ts";
import type { GrantDraft } from "./grant/grant-draft.ts";

/** What a person decides. */
export interface Decided {
  readonly approved: boolean;
  readonly reason: string;
  /** The edited arguments of a call, or the answer to a question. Undefined: the arguments of the model. */
  readonly content: JsonObject | undefined;
  /** Whether the call is approved alone and at once, in an emergency. */
  readonly breakGlass?: boolean;
  /** A rule that approves further calls. */
  readonly grant?: GrantDraft;
}

/**
 * Sends the decision of a person about an approval. A question of an agent is answered as somebody who asked for its run, or else with the
 * role approver. A call that needs a passkey is approved after the person has confirmed exactly this decision.
 */
export function useDecision(
  approval: Approval,
  onDecided: ((decided: Approval | undefined) => void) | undefined,
) {
  const decide = useMutation(ApprovalService.method.decideApproval);
  const answer = useMutation(ApprovalService.method.answerQuestion);
  const begin = useMutation(PasskeyService.method.beginConfirmation);
  const [unconfirmed, setUnconfirmed] = useState<unknown>(null);
  // A second confirmation would end the first one, which the browser still shows.
  const [isConfirming, setConfirming] = useState(false);
  const onSuccess = ({ approval: decided }: { readonly approval?: Approval | undefined }) =>
    onDecided?.(decided);
  const { approvalId, callDigest, question } = approval;
  const asApprover = (
    { approved, reason, content, breakGlass = false, grant }: Decided,
    needsPasskey = approval.needsPasskey,
  ) => {
    const named = question === undefined ? { editedArguments: content } : { answer: content };
    const edited = approved && content !== undefined && named;
    const decided = { approvalId, callDigest, breakGlass, ...edited };
    const send = (confirmation: { readonly confirmation?: JsonObject }) =>
      decide.mutate(
        {
          ...decided,
          approved,
          reason,
          decisionId: newId(),
          ...(grant && { grant }),
          ...confirmation,
        },
        {
          onSuccess,
          // The log of a run does not say what the operator's policy of now requires.
          onError: (error) => {
            const isRequired =
              !needsPasskey &&
              grant === undefined &&
              problemOf(error).reason === "PASSKEY_REQUIRED";
            if (isRequired) asApprover({ approved, reason, content, breakGlass }, true);
          },
        },
      );
    setUnconfirmed(null);
    if (!approved || !needsPasskey) return send({});
    setConfirming(true);
    void begin
      .mutateAsync(decided)
      .then(({ options }) => confirmWithPasskey(options))
      .then((confirmation) => send({ confirmation }), setUnconfirmed)
      .finally(() => setConfirming(false));
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
  const isPending = decide.isPending || answer.isPending || isConfirming;
  return { submit, isPending, error: unconfirmed ?? refusal };
}

function isDenied(error: unknown): boolean {
  return ConnectError.from(error).code === Code.PermissionDenied;
}
