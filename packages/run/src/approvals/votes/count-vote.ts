import type { JsonObject } from "@bufbuild/protobuf";
import { create, equals, fromJson } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import type { Alternative, Approval, Decision, Vote } from "@reeve/contracts/approval";
import {
  AlternativeSchema,
  ApprovalSchema,
  ApprovalState,
  CallerStandingKind,
  VoteSchema,
} from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Decider } from "./may-decide.ts";
import { isDecider, isOfPerson } from "./may-decide.ts";
import type { Refusal } from "./standing.ts";
import { namesOf, refusalOf } from "./standing.ts";

export type { Decider } from "./may-decide.ts";

/** Whether an alternative applies to the call as this decision would execute it. */
export type Applies = (alternative: Alternative) => boolean;

interface Counting {
  /** Default: every alternative. */
  readonly applies?: Applies;
  /** Whether the call needs a passkey. Default: it does not. */
  readonly needs?: boolean;
}

/** How many times a person may vote on an approval. */
const maxAttempts = 5;

/**
 * Returns the approval after a vote: pending, or decided by it. A later vote of a person replaces the earlier one. Throws a
 * Failure of kind `denied` if the person may not vote, and of kind `precondition` if the vote would count for no alternative, or the
 * person has no vote left.
 */
export function countVote(
  approval: Approval,
  decision: Decision,
  decider: Decider,
  { applies = () => true, needs = false }: Counting = {},
): Approval {
  const refusal = refusalOf(approval, decider);
  if (refusal !== undefined) throw refused(approval, decider, refusal);
  if (approval.alternatives.length === 0) return castVote(approval, decision, applies);
  const naming = approval.alternatives.filter((each) => isDecider(each, decider));
  const countsFor = naming.filter(applies);
  if (countsFor.length === 0) throw withoutEffect(approval, naming);
  const earlier = voteOf(approval, decider.subject);
  if (earlier !== undefined && !mayVoteAgain(earlier)) throw tooManyVotes(approval, decider);
  return castVote(approval, decision, (each) => countsFor.includes(each), needs);
}

/**
 * Returns the approval after a vote that counts for these alternatives. Without alternatives, it is a decision. If the call needs a
 * passkey now, earlier approvals without one do not count.
 */
export function castVote(
  approval: Approval,
  decision: Decision,
  countsFor: Applies,
  needs = false,
): Approval {
  const revision = approval.revision + 1;
  if (approval.alternatives.length === 0) {
    return create(ApprovalSchema, { ...approval, revision, decision, state: stateOf(decision) });
  }
  // A reviewer votes once. The subject of a person may be any text.
  const earlier = decision.reviewer ? undefined : voteOf(approval, decision.decidedBy);
  const vote = create(VoteSchema, {
    decision,
    countsFor: approval.alternatives.filter(countsFor).map(({ name }) => name),
    attempts: (earlier?.attempts ?? 0) + 1,
    earlierDecisionIds: earlierIds(earlier),
  });
  const votes = [...approval.votes.filter((each) => each !== earlier), vote];
  const alternatives = approval.alternatives.map((each) => counted(each, votes, needs));
  const reached = alternatives.some((each) => isReached(each, decision.approved));
  return create(ApprovalSchema, {
    ...approval,
    revision,
    votes,
    alternatives,
    ...(reached && { state: stateOf(decision), decision }),
  });
}

/** Returns the last vote of a person on an approval. */
export function voteOf({ votes }: Approval, subject: string): Vote | undefined {
  return votes.find(({ decision }) => isOfPerson(decision, subject));
}

/** Whether the person of a vote may vote once more. */
export function mayVoteAgain({ attempts }: Vote): boolean {
  return attempts < maxAttempts;
}

/** Whether a decision is one that the person has replaced by another one since: repeated late, it must not count again. */
export function isReplaced(approval: Approval, { decisionId, decidedBy }: Decision): boolean {
  const ids = voteOf(approval, decidedBy)?.earlierDecisionIds ?? [];
  return ids.includes(decisionId);
}

function earlierIds(earlier: Vote | undefined): string[] {
  if (earlier === undefined) return [];
  const last = earlier.decision?.decisionId ?? "";
  return [...earlier.earlierDecisionIds, ...(last === "" ? [] : [last])];
}

/** Whether two sets of arguments, or two answers, are equal. */
export function isSame(a: JsonObject | undefined, b: JsonObject | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return equals(StructSchema, fromJson(StructSchema, a), fromJson(StructSchema, b));
}

function stateOf({ approved }: Decision): ApprovalState {
  return approved ? ApprovalState.APPROVED : ApprovalState.REJECTED;
}

/** Approvals with different arguments do not add up. */
function counted(alternative: Alternative, votes: readonly Vote[], needs: boolean): Alternative {
  const own = votes
    .filter(({ countsFor }) => countsFor.includes(alternative.name))
    .flatMap(({ decision }) => decision ?? []);
  const denials = own.filter(({ approved }) => !approved);
  const approving = own.filter(
    ({ approved, stepUp }) => approved && (!needs || stepUp !== undefined),
  );
  const agreeing = approving.map(
    ({ editedArguments }) =>
      approving.filter((other) => isSame(other.editedArguments, editedArguments)).length,
  );
  return create(AlternativeSchema, {
    ...alternative,
    approvalsGiven: Math.max(0, ...agreeing),
    denialsGiven: denials.length,
  });
}

/** Only the last vote can reach a threshold: an earlier one would have closed the approval. */
function isReached(each: Alternative, approved: boolean): boolean {
  return approved ? each.approvalsGiven >= each.approvals : each.denialsGiven >= each.denials;
}

function refused(
  { approvalId, runId, alternatives }: Approval,
  { subject }: Decider,
  { kind, reason }: Refusal,
): Failure {
  const why =
    kind === CallerStandingKind.EXCLUDED
      ? `, because ${reason}; ask somebody else`
      : `; those who may: ${namesOf(alternatives)}`;
  return denied(`${subject} may not decide approval ${approvalId}${why}`, {
    approval_id: approvalId,
    run_id: runId,
  });
}

function withoutEffect({ approvalId, runId }: Approval, naming: readonly Alternative[]): Failure {
  const filters = naming.map(({ name, filter }) => `${name} (${filter})`).join(", ");
  return new Failure(
    "precondition",
    ErrorReason.INVALID_REQUEST,
    `the vote on approval ${approvalId} would not count: with these arguments, no alternative applies that names the person: ${filters}; approve with other arguments, or reject`,
    {
      metadata: { approval_id: approvalId, run_id: runId },
      violations: [
        {
          field: "edited_arguments",
          description: `do not fit the filters of the alternatives: ${filters}`,
          reason: "NOT_APPLICABLE",
        },
      ],
    },
  );
}

function denied(message: string, metadata: Readonly<Record<string, string>>): Failure {
  return new Failure("denied", ErrorReason.PERMISSION_DENIED, message, { metadata });
}

function tooManyVotes({ approvalId, runId }: Approval, { subject }: Decider): Failure {
  return new Failure(
    "precondition",
    ErrorReason.VOTES_USED_UP,
    `${subject} has voted ${maxAttempts} times on approval ${approvalId}, and the last vote stays`,
    { metadata: { approval_id: approvalId, run_id: runId } },
  );
}
