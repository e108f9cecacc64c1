import { create } from "@bufbuild/protobuf";
import type { Approval, CallerStanding } from "@reeve/contracts/approval";
import {
  ApprovalState,
  CallerStandingKind as Kind,
  CallerStandingSchema,
} from "@reeve/contracts/approval";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import type { Decider } from "./may-decide.ts";
import { isApprover, isDecider, isOfPerson } from "./may-decide.ts";

type Deciding = Pick<Approval, "alternatives" | "excludedSubjects" | "requestedBy">;

/** Why an approval refuses every decision of a person. */
export interface Refusal {
  readonly kind: typeof Kind.EXCLUDED | typeof Kind.NOT_NAMED;
  /** A clause that names the person. */
  readonly reason: string;
}

/** Returns why a person may not vote, or undefined if the person may. Says nothing about roles, waits, and freezes. */
export function refusalOf(approval: Deciding, decider: Decider): Refusal | undefined {
  const { alternatives, excludedSubjects, requestedBy } = approval;
  const { subject } = decider;
  if (excludedSubjects.includes(subject)) {
    const what =
      subject === requestedBy
        ? "started the run"
        : "sent a message to the run, or saved the agent that runs";
    return { kind: Kind.EXCLUDED, reason: `${subject} ${what}` };
  }
  const isNamed =
    alternatives.length === 0 || alternatives.some((each) => isDecider(each, decider));
  if (isNamed) return undefined;
  const reason = `${subject} is not one of those who may decide: ${namesOf(alternatives)}`;
  return { kind: Kind.NOT_NAMED, reason };
}

/** Returns whom alternatives name, at most ten of each. */
export function namesOf(alternatives: Approval["alternatives"]): string {
  return alternatives
    .map(({ people, groups }) =>
      [...people, ...groups.map((group) => `group ${group}`)].slice(0, 10).join(", "),
    )
    .join(" or ");
}

/**
 * Whether an approval waits for a person, who may decide it and has not voted: while it is pending, the standing is then MAY_DECIDE. Not for a
 * person whose roles and groups are not known.
 */
export function waitsFor(approval: Approval, decider: Decider): boolean {
  const mayVote =
    isApprover(decider) || (knowsMemberships(decider) && mayAnswer(approval, decider));
  return mayVote && refusalOf(approval, decider) === undefined && !hasVoted(approval, decider);
}

/** Whether a person may answer a question of an agent because the person started its run. */
function mayAnswer(approval: Approval, { subject }: Decider): boolean {
  return isAgentQuestion(approval) && approval.requestedBy === subject;
}

/**
 * Returns whether a person may decide on a pending approval. Undefined: it is closed, the roles and groups of the person are not known, or
 * this depends on the log of its run.
 */
export function standingOf(approval: Approval, decider: Decider): CallerStanding | undefined {
  if (approval.state !== ApprovalState.PENDING) return undefined;
  if (!knowsMemberships(decider)) return undefined;
  const { subject } = decider;
  const refusal = refusalOf(approval, decider);
  if (!isApprover(decider) && !mayAnswer(approval, decider)) {
    // People who sent a message to the run may answer its agent, and an approval does not name them.
    if (isAgentQuestion(approval) && refusal === undefined) return undefined;
    return standing(Kind.MISSING_ROLE, `${subject} does not have the role approver`);
  }
  if (refusal !== undefined) return standing(refusal.kind, refusal.reason);
  return waitsFor(approval, decider)
    ? standing(Kind.MAY_DECIDE, "")
    : standing(Kind.VOTED, `${subject} has voted`);
}

/** Whether the roles and groups of a person are known. Every credential has a role. */
export function knowsMemberships({ groups }: Decider): boolean {
  return [...(groups ?? [])].some((group) => group.startsWith("role:"));
}

function hasVoted({ votes }: Approval, { subject }: Decider): boolean {
  return votes.some(({ decision }) => isOfPerson(decision, subject));
}

function standing(kind: Kind, reason: string): CallerStanding {
  return create(CallerStandingSchema, { kind, reason });
}
