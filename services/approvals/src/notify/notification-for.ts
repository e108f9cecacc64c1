import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema } from "@reeve/contracts/approval";
import type { Notification } from "@reeve/contracts/notification";
import { NotificationEvent, NotificationSchema } from "@reeve/contracts/notification";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import type { ApprovalFact } from "./approval-facts.ts";
import type { Receiver } from "./settings/receiver-schema.ts";

/** How many characters of the arguments a message has. */
const maxArguments = 4_000;

const settingOf: Readonly<Record<NotificationEvent, Receiver["events"][number] | undefined>> = {
  [NotificationEvent.UNSPECIFIED]: undefined,
  [NotificationEvent.REQUESTED]: "requested",
  [NotificationEvent.RESOLVED]: "resolved",
  [NotificationEvent.ESCALATED]: "escalated",
  [NotificationEvent.BREAK_GLASS]: "break_glass",
  [NotificationEvent.RUN_ENDED]: "run_ended",
};

/** What the settings of a receiver select. */
type Selection = Pick<Receiver, "name" | "events" | "tenants" | "agents" | "include_arguments">;

/** Returns the notification of a fact for a receiver, or undefined if its settings do not select it. */
export function notificationFor(
  { tenant, event, occurredAt, approval }: ApprovalFact,
  { name, events, tenants, agents, include_arguments: includesArguments }: Selection,
  nowMs: number,
): Notification | undefined {
  const wanted = settingOf[event];
  const isSelected =
    wanted !== undefined &&
    events.includes(wanted) &&
    (tenants?.includes(tenant) ?? true) &&
    (agents?.includes(approval.agentId) ?? true);
  if (!isSelected) return undefined;
  return create(NotificationSchema, {
    notificationId: idOf(approval, event, name),
    receiver: name,
    tenant,
    event,
    ...(occurredAt && { occurredAt }),
    queuedAt: timestampFromMs(nowMs),
    approval: outlined(approval),
    arguments: includesArguments ? argumentsOf(approval) : "",
  });
}

/**
 * An approval reaches each of its states once, and escalates with one revision once. The id has no dot, which separates the parts of
 * what is signed.
 */
function idOf(
  { approvalId, state, revision }: Approval,
  event: NotificationEvent,
  receiver: string,
): string {
  const what = whatOf(event, revision) ?? state;
  const hash = createHash("sha256").update(`${approvalId}\0${what}\0${receiver}`);
  return `msg_${hash.digest("hex").slice(0, 32)}`;
}

function whatOf(event: NotificationEvent, revision: number): string | undefined {
  if (event === NotificationEvent.ESCALATED) return `escalated\0${revision}`;
  return event === NotificationEvent.BREAK_GLASS ? "break_glass" : undefined;
}

/** Returns what every receiver may know of an approval: no arguments, questions, files, or votes. */
function outlined(approval: Approval): Approval {
  const { approvalId, runId, agentId, threadId, requestedBy, state, supersedes } = approval;
  const { call, requestedAt, expiresAt, decidableAfter, freeze, decision, revision } = approval;
  const { needsPasskey, permissionClass } = approval;
  return create(ApprovalSchema, {
    approvalId,
    runId,
    agentId,
    threadId,
    requestedBy,
    state,
    supersedes,
    revision,
    needsPasskey,
    permissionClass,
    ...(call && { call: { callId: call.callId, name: call.name } }),
    ...(requestedAt && { requestedAt }),
    ...(expiresAt && { expiresAt }),
    ...(decidableAfter && { decidableAfter }),
    ...(freeze && { freeze }),
    // Who may decide since then, which the receivers have to know.
    escalations: approval.escalations.filter((each) => each.revision === revision && revision > 0),
    // Its reason may repeat arguments.
    ...(approval.review && {
      review: { advice: approval.review.advice, model: approval.review.model },
    }),
    ...(decision && {
      decision: {
        approved: decision.approved,
        decidedBy: decision.decidedBy,
        reason: decision.reason,
        ...(decision.decidedAt && { decidedAt: decision.decidedAt }),
        ...(decision.breakGlass && { breakGlass: decision.breakGlass }),
        ...(decision.stepUp && { stepUp: decision.stepUp }),
        // Its rule may repeat arguments.
        ...(decision.appliedGrant && {
          appliedGrant: {
            grantId: decision.appliedGrant.grantId,
            scope: decision.appliedGrant.scope,
          },
        }),
      },
    }),
  });
}

function argumentsOf({ call, question }: Approval): string {
  const given = question === undefined ? call?.arguments : { question: question.message };
  const text = JSON.stringify(processRedaction.json(given ?? call?.rawArguments ?? ""));
  return text.length > maxArguments ? `${text.slice(0, maxArguments)}…` : text;
}
