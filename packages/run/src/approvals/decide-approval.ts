import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ApprovalTimes } from "@reeve/agent/approval-times/approval-times";
import { needsPasskey } from "@reeve/agent/approval-times/needs-passkey";
import type { Approval, DecideApprovalRequest, Decision } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState, DecisionSchema } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { isStorable, maxJsonDepth } from "@reeve/contracts/rules/nesting";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import type { AppendExternalPorts } from "../commands/append-external.ts";
import { appendExternal } from "../commands/append-external.ts";
import type { RunHead } from "../head/run-head.ts";
import { approvalOf } from "../head/run-head.ts";
import { approvalNotFound, runOfApproval } from "./approval-id.ts";
import { argumentViolations } from "./argument-violations.ts";
import { assertAnswers } from "./assert-answers.ts";
import { assertOpen } from "./assert-open.ts";
import { assertRequesterAnswers } from "./assert-requester-answers.ts";
import { assertSameCall } from "./assert-same-call.ts";
import { assertUserAnswers } from "./assert-user-answers.ts";
import { withGrant } from "./grants/with-grant.ts";
import { confirmed } from "./passkeys/confirmed.ts";
import type { StaleReadOptions } from "./stale-reads.ts";
import { missingApproval, searching } from "./stale-reads.ts";
import { assertBreaksGlassAlone, breakGlass } from "./times/break-glass.ts";
import { assertDecidable, decisionTime } from "./times/decidable.ts";
import { toolsOfCaller } from "../head/tools-of-caller.ts";
import { applyingTo } from "./votes/applying-to.ts";
import type { Decider } from "./votes/count-vote.ts";
import { countVote, isReplaced, isSame, mayVoteAgain, voteOf } from "./votes/count-vote.ts";

export interface DecidingPorts extends AppendExternalPorts, StaleReadOptions {
  readonly clock: Pick<Clock, "now">;
  /** The operator's policy of now about when calls can be approved. Default: there is none. */
  readonly times?: () => ApprovalTimes | undefined;
  /** Returns the page on which people decide an approval, for their passkeys. Default: none is known. */
  readonly inboxUrl?: ((approvalId: string) => string) | undefined;
}

/**
 * Decides an approval by appending a fact to the log of its run; the first append wins. Idempotent by decision id: repeating
 * the same decision returns the first result. Any other decision is refused with the current state. A call that needs a passkey is
 * approved only with the confirmation of the person; one that is given without need is checked and recorded all the same. An approval
 * is closed from its expiry time on, even before the expiry is in the log, and takes no approval before its wait has ended and in a
 * freeze. With alternatives, a decision is a vote: the approval stays pending until the threshold of one is reached. If the log of an
 * open run lacks the approval, searches again for about 8 s.
 */
export async function decideApproval(
  ports: DecidingPorts,
  decider: Decider,
  request: DecideApprovalRequest,
  signal: AbortSignal,
): Promise<Approval> {
  return await searching(
    ports,
    request.approvalId,
    () => decideOnce(ports, decider, request, signal),
    signal,
  );
}

async function decideOnce(
  { clock, times, inboxUrl, ...ports }: DecidingPorts,
  decider: Decider,
  request: DecideApprovalRequest,
  signal: AbortSignal,
): Promise<Approval> {
  const { approvalId } = request;
  const { tenant, subject } = decider;
  const key = { tenant, run: runOfApproval(approvalId) };
  const head = await appendExternal(
    ports,
    key,
    (before) => {
      // One time for all: the run checks again whether the call could be approved when it was.
      const nowMs = clock.now();
      const asked = decisionOf(request, subject, nowMs);
      const approval = approvalOf(before, approvalId);
      if (approval === undefined) throw missingApproval(before, approvalId);
      if (decider.as === "requester") assertRequesterAnswers(approval, before, subject);
      assertUserAnswers(approval, before, subject);
      const needs = needsPasskey(approval, { tenant, times: times?.(), head: before });
      const { confirmation } = decider;
      const { breakGlass: breaksGlass } = request;
      const confirms = confirmation !== undefined;
      if (isRepetition(approval, asked, { breaksGlass, needs, confirms })) return [];
      assertOpen(approval, before, nowMs);
      if (request.callDigest !== "") assertSameCall(approval, request.callDigest);
      if (request.breakGlass) assertBreaksGlassAlone(approval, request);
      if (approval.question === undefined) assertEditedArguments(approval, asked, before);
      assertAnswers(approval, asked);
      // A runtime may know of a need that this process does not.
      const records = confirms && approval.question === undefined && request.grant === undefined;
      const decision =
        asked.approved && (needs || records)
          ? confirmed(approval, asked, {
              confirmation,
              grants: request.grant !== undefined,
              url: inboxUrl?.(approvalId),
            })
          : asked;
      const agentPolicy = before.created?.spec?.approvalPolicy;
      const time = decisionTime({ tenant, times: times?.(), agentPolicy }, nowMs);
      if (request.breakGlass) {
        const broken = breakGlass(approval, decision, { decider, head: before, time });
        return [{ case: "approval", value: { approval: needs ? withNeed(broken) : broken } }];
      }
      if (decision.approved) assertDecidable(approval, time);
      const applies = applyingTo(approval, decision, before);
      const voted = countVote(approval, decision, decider, { applies, needs });
      const decided =
        request.grant === undefined
          ? voted
          : withGrant(voted, decision, request.grant, { head: before, nowMs });
      // What the operator's policy wants is not in the request: the decision records it, for receipts.
      const recorded = needs && asked.approved ? withNeed(decided) : decided;
      return [{ case: "approval", value: { approval: recorded } }];
    },
    signal,
  );
  const decided = approvalOf(head, approvalId);
  if (decided === undefined) throw approvalNotFound(approvalId);
  return decided;
}

function withNeed(approval: Approval): Approval {
  return create(ApprovalSchema, { ...approval, needsPasskey: true });
}

function decisionOf(
  { decisionId, approved, reason, editedArguments, answer }: DecideApprovalRequest,
  decidedBy: string,
  nowMs: number,
): Decision {
  return create(DecisionSchema, {
    decisionId,
    approved,
    reason,
    decidedBy,
    decidedAt: timestampFromMs(nowMs),
    ...(editedArguments && { editedArguments }),
    ...(answer && { answer }),
  });
}

interface Repeating {
  readonly breaksGlass: boolean;
  /** Whether the call needs a passkey now. */
  readonly needs: boolean;
  /** Whether the request has a confirmation. */
  readonly confirms: boolean;
}

/**
 * Whether the approval was decided by this decision, or has or had this vote already. A broken glass is no repetition of a vote, and a
 * confirmed vote is none of one that was not confirmed.
 */
function isRepetition(
  approval: Approval,
  decision: Decision,
  { breaksGlass, needs, confirms }: Repeating,
): boolean {
  const { decision: deciding } = approval;
  if (breaksGlass) return deciding?.breakGlass !== undefined && isSameRequest(deciding, decision);
  if (isReplaced(approval, decision)) return true;
  if (deciding !== undefined && isSameRequest(deciding, decision)) return true;
  const vote = voteOf(approval, decision.decidedBy);
  if (vote?.decision === undefined || !isSameContent(vote.decision, decision)) return false;
  const isPending = approval.state === ApprovalState.PENDING;
  const isUnconfirmed = isPending && decision.approved && vote.decision.stepUp === undefined;
  if (isUnconfirmed && confirms) return false;
  if (isSameRequest(vote.decision, decision)) return true;
  if (!isPending || (isUnconfirmed && needs)) return false;
  // The same vote with another id is stored, so that a late repetition of it is recognized after the person has voted otherwise.
  return decision.decisionId === "" || !mayVoteAgain(vote);
}

function isSameRequest(first: Decision, decision: Decision): boolean {
  return (
    decision.decisionId !== "" &&
    first.decisionId === decision.decisionId &&
    isSameContent(first, decision)
  );
}

function isSameContent(first: Decision, decision: Decision): boolean {
  return (
    first.approved === decision.approved &&
    first.reason === decision.reason &&
    isSame(first.editedArguments, decision.editedArguments) &&
    isSame(first.answer, decision.answer)
  );
}

/** Throws a Failure for edited arguments that are not permitted, come with a rejection, or do not match the tool's schema. */
function assertEditedArguments(
  { approvalId, agentId, delegateId, allowEditedArguments, call }: Approval,
  { approved, editedArguments }: Decision,
  { prepared }: RunHead,
): void {
  if (editedArguments === undefined) return;
  const field = "edited_arguments";
  if (!allowEditedArguments) {
    const message = `agent ${agentId} does not permit edited arguments for approval ${approvalId}; set approval_policy.allow_edited_arguments`;
    const description = "are not permitted";
    throw new Failure("precondition", ErrorReason.INVALID_REQUEST, message, {
      violations: [{ field, description, reason: "NOT_PERMITTED" }],
    });
  }
  if (!approved) {
    const message = `the rejection of approval ${approvalId} has edited arguments; approve, or leave them out`;
    const description = "are only valid with an approval";
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, {
      violations: [{ field, description, reason: "CONTRADICTION" }],
    });
  }
  if (!isStorable(editedArguments)) {
    const message = `the arguments for approval ${approvalId} are nested deeper than ${maxJsonDepth} levels, or have malformed text; send simpler ones`;
    const description = `are nested deeper than ${maxJsonDepth} levels, or have malformed text`;
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, {
      violations: [{ field, description, reason: "NOT_STORABLE" }],
    });
  }
  const tools = toolsOfCaller(prepared, delegateId);
  const schema = tools.find(({ name }) => name === call?.name)?.inputSchema;
  const violations = schema ? argumentViolations(field, editedArguments, schema) : [];
  if (violations.length === 0) return;
  const list = violations.map((found) => `${found.field}: ${found.description}`).join("; ");
  const message = `the arguments for approval ${approvalId} do not match the schema of ${call?.name ?? "its tool"}: ${list}`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { violations });
}
