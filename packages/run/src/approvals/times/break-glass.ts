import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { BreakGlassRule } from "@reeve/agent/approval-times/approval-times";
import { defaultReasonLength, permits } from "@reeve/agent/approval-times/approval-times";
import { timedCall } from "@reeve/agent/approval-times/timed-call";
import type { Approval, DecideApprovalRequest, Decision } from "@reeve/contracts/approval";
import {
  ApprovalSchema,
  ApprovalState,
  BreakGlassUseSchema,
  DecisionSchema,
} from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { RunHead } from "../../head/run-head.ts";
import { authorsOf } from "../../head/authors-of.ts";
import { requestersOf } from "../../head/requesters-of.ts";
import type { Decider } from "../votes/count-vote.ts";
import type { DecisionTime } from "./decidable.ts";
import { assertDecidable, tooEarly } from "./decidable.ts";

/** Who may break the glass, by the agent's policy or by an entry of the operator's. */
type Rule = Pick<BreakGlassRule, "people" | "groups" | "minReasonLength" | "allowRequester"> & {
  /** Empty: the agent's policy. */
  readonly name: string;
};

interface Broken {
  readonly decider: Decider;
  readonly head: RunHead;
  readonly time: DecisionTime;
}

/** Throws a Failure of kind `invalid` for a request that breaks the glass for something other than the approval of one call. */
export function assertBreaksGlassAlone(
  { approvalId, question }: Approval,
  { approved, grant }: DecideApprovalRequest,
): void {
  const problem = !approved
    ? "a rejection is accepted at once"
    : question !== undefined
      ? "a question is answered at any time"
      : grant !== undefined
        ? "no grant can be made with it"
        : undefined;
  if (problem === undefined) return;
  const message = `approval ${approvalId} cannot be decided by break-glass: ${problem}; leave break_glass out`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, {
    violations: [{ field: "break_glass", description: problem, reason: "CONTRADICTION" }],
  });
}

/**
 * Returns the approval after a person approved it alone and at once, in an emergency. The operator's policy may permit that in spite of
 * everything, and the agent's in spite of its own rules. Throws a Failure of kind `denied` for everyone else, of kind `invalid` without a
 * reason that is long enough, and of kind `precondition` in waits and freezes that stay in the way.
 */
export function breakGlass(approval: Approval, decision: Decision, broken: Broken): Approval {
  const { time } = broken;
  const rule = ruleFor(approval, decision.reason, broken);
  assertReason(approval, decision, rule);
  if (rule.name === "") assertDecidable(approval, { ...time, withoutAgent: true });
  const early = tooEarly(approval, time);
  const use = create(BreakGlassUseSchema, {
    rule: rule.name,
    freeze: early?.freeze?.name ?? "",
    ...(early?.decidableMs !== undefined && { decidableAfter: timestampFromMs(early.decidableMs) }),
    withoutVotes: approval.alternatives.length > 0,
  });
  return create(ApprovalSchema, {
    ...approval,
    revision: approval.revision + 1,
    state: ApprovalState.APPROVED,
    decision: create(DecisionSchema, { ...decision, breakGlass: use }),
  });
}

/** Prefers the operator's policy, which permits more. A rule for which the reason is too short counts only if there is no other. */
function ruleFor(approval: Approval, reason: string, { decider, head, time }: Broken): Rule {
  const { created } = head;
  const call = timedCall(approval, time.tenant);
  const ofAgent = created?.spec?.approvalPolicy?.breakGlass;
  const rules: readonly Rule[] = [
    ...(time.times?.breakGlass ?? []).filter((rule) => permits(rule, call)),
    ...(ofAgent
      ? [{ ...ofAgent, name: "", minReasonLength: ofAgent.minReasonLength || defaultReasonLength }]
      : []),
  ];
  const naming = rules.filter(
    ({ people, groups }) =>
      people.includes(decider.subject) || groups.some((group) => decider.groups?.has(group)),
  );
  if (naming.length === 0) throw denied(approval, decider, "no policy names this person for it");
  const excluded = excludedFor(head);
  const permitted = naming.filter(
    ({ allowRequester }) => excluded !== undefined && !excluded(decider.subject, allowRequester),
  );
  const rule =
    permitted.find((each) => isLongEnough(reason, each)) ??
    permitted.toSorted((a, b) => a.minReasonLength - b.minReasonLength)[0];
  if (rule !== undefined) return rule;
  const why =
    excluded === undefined
      ? "it is not known who started the run, or who saved its agent"
      : "this person started the run, sent it a message, or saved its agent";
  throw denied(approval, decider, why);
}

/** Returns whether a person may not break the glass. Undefined: a person who is to be excluded is not known. */
function excludedFor(
  head: RunHead,
): ((subject: string, allowRequester: boolean) => boolean) | undefined {
  const { created } = head;
  const excludesAuthor = created?.spec?.approvalPolicy?.excludeAuthor ?? false;
  const authors = authorsOf(created);
  const requesters = requestersOf(head);
  if ((excludesAuthor && authors.includes("")) || (created?.startedBy ?? "") === "")
    return undefined;
  return (subject, allowRequester) =>
    (excludesAuthor && authors.includes(subject)) || (!allowRequester && requesters.has(subject));
}

function isLongEnough(reason: string, { minReasonLength }: Rule): boolean {
  return reason.trim().length >= minReasonLength;
}

function assertReason({ approvalId }: Approval, { reason }: Decision, rule: Rule): void {
  if (isLongEnough(reason, rule)) return;
  const { minReasonLength } = rule;
  const description = `must have at least ${minReasonLength} characters`;
  const message = `approval ${approvalId} cannot be decided by break-glass without a reason: it ${description}`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, {
    violations: [{ field: "reason", description, reason: "TOO_SHORT" }],
  });
}

function denied({ approvalId, runId }: Approval, { subject }: Decider, why: string): Failure {
  const message = `${subject} may not decide approval ${approvalId} by break-glass: ${why}`;
  return new Failure("denied", ErrorReason.PERMISSION_DENIED, message, {
    metadata: { approval_id: approvalId, run_id: runId },
  });
}
