import { create } from "@bufbuild/protobuf";
import type { Approval, Decision, Vote } from "@reeve/contracts/approval";
import type { CastDecision } from "@reeve/contracts/receipt";
import { CastDecisionSchema } from "@reeve/contracts/receipt";
import type { RunEvent } from "@reeve/contracts/run";
import { canonicalSha256 } from "./canonical-sha256.ts";

/** Returns the decisions and votes with which an approval changed. A vote that decides is one of them, not two. */
export function castDecisions(
  before: Approval | undefined,
  after: Approval,
  { sequence, time }: Pick<RunEvent, "sequence" | "time">,
): readonly CastDecision[] {
  const cast = (decision: Decision, vote?: Vote): CastDecision =>
    create(CastDecisionSchema, {
      sequence,
      approvalId: after.approvalId,
      decision,
      isVote: vote !== undefined,
      countsFor: vote?.countsFor ?? [],
      state: after.state,
      ...(time && { recordedAt: time }),
      ...(decision.editedArguments && {
        editedArgumentsSha256: canonicalSha256(decision.editedArguments),
      }),
      ...(decision.answer && { answerSha256: canonicalSha256(decision.answer) }),
    });
  const deciding = before?.decision === undefined ? after.decision : undefined;
  const votes = after.votes.filter((vote) => isNew(vote, before));
  const isVoted = votes.some((vote) => vote.decision?.decidedBy === deciding?.decidedBy);
  return [
    ...votes.flatMap((vote) => {
      const { decision } = vote;
      if (decision === undefined) return [];
      // The decision also has the grant that it makes, or by which it was made.
      return [cast(decision.decidedBy === deciding?.decidedBy ? deciding : decision, vote)];
    }),
    ...(deciding === undefined || isVoted ? [] : [cast(deciding)]),
  ];
}

function isNew({ decision, attempts }: Vote, before: Approval | undefined): boolean {
  const earlier = before?.votes.find((vote) => vote.decision?.decidedBy === decision?.decidedBy);
  return earlier === undefined || earlier.attempts !== attempts;
}
