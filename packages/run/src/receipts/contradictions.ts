import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Alternative, Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { ToolStatus } from "@reeve/contracts/tool";
import type { CallReceipt, CastDecision } from "@reeve/contracts/receipt";

/**
 * Returns where a receipt contradicts itself, in sentences. A deployment that works signs no such receipt: a call is handed out only
 * after its approval, by those and at the time that the policy requires, and executed only with the files that the approval showed.
 */
export function contradictions({
  approvals,
  decisions,
  starts,
  result,
  end,
}: CallReceipt): readonly string[] {
  const found: string[] = [];
  const byId = new Map(approvals.map((approval) => [approval.approvalId, approval]));
  for (const { approvalId, sequence } of starts) {
    if (approvalId === "") continue;
    const approval = byId.get(approvalId);
    const deciding = decisions.find(
      (cast) =>
        cast.approvalId === approvalId &&
        cast.state === ApprovalState.APPROVED &&
        cast.sequence < sequence,
    );
    if (approval === undefined || deciding === undefined) {
      found.push(
        `the call was handed out at sequence ${sequence} without the approval ${approvalId}`,
      );
    } else {
      const problem = permitProblem(approval, deciding, decisions);
      if (problem !== undefined) {
        found.push(`the call was handed out at sequence ${sequence}, although ${problem}`);
      }
    }
    const closing = result ?? end;
    if (closing !== undefined && closing.sequence < sequence) {
      const what = result === undefined ? "the end of its run" : "its result";
      found.push(`the call was handed out at sequence ${sequence}, after ${what}`);
    }
  }
  const counted = byId.get(result?.approvalId ?? "");
  const isPermitted = counted === undefined || counted.state === ApprovalState.APPROVED;
  if (result?.status === ToolStatus.SUCCESS && !isPermitted) {
    found.push(`the call succeeded, but its approval ${result.approvalId} does not permit it`);
  }
  const decidedOn = counted?.content?.digest ?? "";
  const executedWith = result?.boundContentDigest ?? "";
  if (decidedOn !== "" && executedWith !== "" && decidedOn !== executedWith) {
    found.push(
      `the call was executed with the files ${executedWith}, but ${decidedOn} was approved`,
    );
  }
  return found;
}

/** Returns the last vote of each voter up to a deciding one, of those that approve the same arguments. */
function agreeingVotes(
  { approvalId, sequence, editedArgumentsSha256 }: CastDecision,
  all: readonly CastDecision[],
): readonly CastDecision[] {
  const last = new Map<string, CastDecision>();
  for (const cast of all) {
    const { decision } = cast;
    if (!cast.isVote || cast.approvalId !== approvalId || cast.sequence > sequence) continue;
    const voter = `${decision?.reviewer === undefined}\n${decision?.decidedBy ?? ""}`;
    last.set(voter, cast);
  }
  return [...last.values()].filter(
    (cast) =>
      cast.decision?.approved === true && cast.editedArgumentsSha256 === editedArgumentsSha256,
  );
}

function countsFor({ countsFor: names }: CastDecision, { name }: Alternative): boolean {
  return names.includes(name);
}

function isOpenToModel(alternatives: readonly Alternative[], name: string): boolean {
  return alternatives.some((each) => each.name === name && each.reviewer);
}

/**
 * Returns why the decision that closed an approval did not permit the call. A person who breaks the glass needs neither votes nor a
 * time, but the passkey.
 */
function permitProblem(
  approval: Approval,
  deciding: CastDecision,
  all: readonly CastDecision[],
): string | undefined {
  const { approvalId, alternatives, excludedSubjects, decidableAfter, needsPasskey } = approval;
  const { decision, recordedAt } = deciding;
  if (needsPasskey && decision !== undefined && decision.stepUp === undefined) {
    return `approval ${approvalId} was given without the passkey that its policy requires`;
  }
  if (decision === undefined || decision.breakGlass !== undefined) return undefined;
  const { decidedBy, reviewer } = decision;
  if (reviewer !== undefined && excludedSubjects.length > 0) {
    return `approval ${approvalId} was given by a model, and its policy requires another person`;
  }
  if (excludedSubjects.includes(decidedBy)) {
    return `${decidedBy} might not decide approval ${approvalId}`;
  }
  const reached = alternatives.filter((each) => each.approvalsGiven >= each.approvals);
  if (alternatives.length > 0 && reached.length === 0) {
    return `approval ${approvalId} did not have the votes that its policy requires`;
  }
  const votes = agreeingVotes(deciding, all);
  const isConfirmed = (each: Alternative) =>
    votes.filter((vote) => vote.decision?.stepUp !== undefined && countsFor(vote, each)).length >=
    each.approvals;
  if (needsPasskey && !reached.every(isConfirmed)) {
    return `approval ${approvalId} did not have as many votes with a passkey as its policy requires`;
  }
  const byModel = votes.find((vote) => vote.decision?.reviewer !== undefined);
  if (byModel !== undefined && excludedSubjects.length > 0) {
    return `a model voted on approval ${approvalId}, and its policy requires another person`;
  }
  if (
    byModel !== undefined &&
    byModel.countsFor.some((name) => !isOpenToModel(alternatives, name))
  ) {
    return `a model voted on approval ${approvalId} for people, which its policy does not permit`;
  }
  const decidedAt = decision.decidedAt ?? recordedAt;
  const isEarly =
    decidableAfter !== undefined &&
    (decidedAt === undefined || timestampMs(decidedAt) < timestampMs(decidableAfter));
  return isEarly
    ? `approval ${approvalId} could not be given before ${timestampDate(decidableAfter).toISOString()}`
    : undefined;
}
