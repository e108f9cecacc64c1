import { statusName } from "@reeve/run/head/run-status";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Alternative, Approval, ApprovalFreeze } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import type { EndedRun, Notification } from "@reeve/contracts/notification";
import { NotificationEvent } from "@reeve/contracts/notification";

/** The longest value in a message to people. Chat services refuse longer fields. */
const maxValue = 500;

/** A notification as people read it. The values come from agents and callers: formats must not interpret them. */
export interface Description {
  readonly title: string;
  /** Names and values, in the order of their importance. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** Arguments of the call as JSON. Empty unless the receiver gets them. */
  readonly arguments: string;
  /** The page of the approval. It shows nothing without a sign-in. */
  readonly link: string;
}

const names: Readonly<Record<ApprovalState, string>> = {
  [ApprovalState.UNSPECIFIED]: "unknown",
  [ApprovalState.PENDING]: "pending",
  [ApprovalState.APPROVED]: "approved",
  [ApprovalState.REJECTED]: "rejected",
  [ApprovalState.TIMED_OUT]: "timed_out",
  [ApprovalState.WITHDRAWN]: "withdrawn",
  [ApprovalState.SUPERSEDED]: "superseded",
};

/** Returns the name of a state, as in `timed_out`. */
export function nameOfState(state: ApprovalState): string {
  return names[state] ?? "unknown";
}

/** Returns the address of the page of an approval. It has no credential: a person who opens it has to sign in. */
export function linkTo(publicUrl: string, approvalId: string): string {
  return `${publicUrl.replace(/\/+$/, "")}/inbox/${encodeURIComponent(approvalId)}`;
}

/** Returns a notification for people. */
export function describe(
  { event, tenant, approval, run, ...rest }: Notification,
  publicUrl: string,
): Description {
  if (run !== undefined) return describeRun(run, tenant, publicUrl);
  const tool = shortened(approval?.call?.name ?? "", 80);
  const state = nameOfState(approval?.state ?? ApprovalState.UNSPECIFIED).replace("_", " ");
  const { decision, freeze } = approval ?? {};
  const { REQUESTED, ESCALATED } = NotificationEvent;
  const isOpen = event === REQUESTED || event === ESCALATED;
  const glass = decision?.breakGlass;
  const deciders = escalatedTo(approval).flatMap(({ people, groups }) => [
    ...people,
    ...groups.map((group) => `group ${group}`),
  ]);
  const facts = [
    ["Tool", approval?.call?.name],
    ["Agent", approval?.agentId],
    ["Delegate", approval?.delegateId || undefined],
    ["Requested by", approval?.requestedBy],
    ["Decided by", decision?.appliedGrant ? undefined : decision?.decidedBy],
    ["Decided by a grant of", decision?.appliedGrant && decision.decidedBy],
    ["Grant", decision?.appliedGrant?.grantId],
    ["Break-glass", glass && (glass.rule === "" ? "by the agent's policy" : glass.rule)],
    ["In the freeze", glass?.freeze],
    ["Reason", decision?.reason],
    ["More people may decide", event === ESCALATED ? deciders.join(", ") : undefined],
    ["Can be approved from", isOpen ? timeText(approval?.decidableAfter) : undefined],
    ["Freeze", isOpen && freeze ? freezeText(freeze) : undefined],
    ["Expires", isOpen ? timeText(approval?.expiresAt) : undefined],
    ["Run", approval?.runId],
    ["Tenant", tenant],
  ] as const;
  return {
    title: titleOf(event, state, tool),
    facts: facts.flatMap(([name, value = ""]) =>
      value === "" ? [] : [[name, shortened(value, maxValue)] as const],
    ),
    arguments: rest.arguments,
    link: linkTo(publicUrl, approval?.approvalId ?? ""),
  };
}

function describeRun(run: EndedRun, tenant: string, publicUrl: string): Description {
  const facts = [
    ["Agent", run.agentId],
    ["Started by", run.startedBy],
    ["Error", run.errorReason],
    ["Run", run.runId],
    ["Thread", run.threadId],
    ["Tenant", tenant],
  ] as const;
  return {
    title: `Run ${statusName(run.status)}: ${shortened(run.agentId, 80)}`,
    facts: facts.flatMap(([name, value]) =>
      value === "" ? [] : [[name, shortened(value, maxValue)] as const],
    ),
    arguments: "",
    link: linkToRun(publicUrl, run.runId),
  };
}

/** Returns the address of the page of a run, as `linkTo` does for an approval. */
export function linkToRun(publicUrl: string, runId: string): string {
  return `${publicUrl.replace(/\/+$/, "")}/runs/${encodeURIComponent(runId)}`;
}

function titleOf(event: NotificationEvent, state: string, tool: string): string {
  if (event === NotificationEvent.BREAK_GLASS) return `Approved by break-glass: ${tool}`;
  if (event === NotificationEvent.ESCALATED) return `Approval escalated: ${tool}`;
  return `Approval ${event === NotificationEvent.REQUESTED ? "requested" : state}: ${tool}`;
}

/** Returns who may decide since an escalation. Empty: the same people as before. */
export function escalatedTo(
  approval: Pick<Approval, "escalations"> | undefined,
): readonly Pick<Alternative, "people" | "groups">[] {
  return (approval?.escalations ?? []).flatMap(({ alternative }) => alternative ?? []);
}

function freezeText({ name, endsAt }: ApprovalFreeze): string {
  return `${name}, until ${timeText(endsAt) ?? "more than a year from now"}`;
}

/** Returns a time in ISO 8601, or undefined. */
export function timeText(time: Timestamp | undefined): string | undefined {
  return time && timestampDate(time).toISOString();
}

/** Returns a text on one line of at most `max` characters. */
export function shortened(text: string, max: number): string {
  // Control characters could split a header, or show other text than there is.
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").trim();
  return line.length > max ? `${line.slice(0, max - 1).toWellFormed()}…` : line;
}
