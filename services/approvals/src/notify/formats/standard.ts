import type { EndedRun, Notification } from "@reeve/contracts/notification";
import { NotificationEvent } from "@reeve/contracts/notification";
import { ApprovalState } from "@reeve/contracts/approval";
import { statusName } from "@reeve/run/head/run-status";
import { escalatedTo, linkTo, linkToRun, nameOfState, timeText } from "./describe.ts";

const types: Readonly<Partial<Record<NotificationEvent, string>>> = {
  [NotificationEvent.REQUESTED]: "approval.requested",
  [NotificationEvent.ESCALATED]: "approval.escalated",
  [NotificationEvent.BREAK_GLASS]: "approval.break_glass",
};

/** Returns a notification for programs: an envelope as Standard Webhooks recommends. Programs must ignore fields that they do not know. */
export function standardMessage(notification: Notification, publicUrl: string) {
  const { event, tenant, occurredAt, approval, run } = notification;
  if (run !== undefined) return runMessage(run, { tenant, occurredAt }, publicUrl);
  const { decision } = approval ?? {};
  const state = approval?.state ?? ApprovalState.UNSPECIFIED;
  return {
    type: types[event] ?? "approval.resolved",
    timestamp: timeText(occurredAt),
    data: {
      tenant,
      approval_id: approval?.approvalId,
      run_id: approval?.runId,
      agent_id: approval?.agentId,
      thread_id: approval?.threadId || undefined,
      tool: approval?.call?.name,
      requested_by: approval?.requestedBy,
      requested_at: timeText(approval?.requestedAt),
      expires_at: timeText(approval?.expiresAt),
      decidable_after: timeText(approval?.decidableAfter),
      freeze: approval?.freeze && {
        name: approval.freeze.name,
        ends_at: timeText(approval.freeze.endsAt),
      },
      state: nameOfState(state),
      escalated_to:
        event === NotificationEvent.ESCALATED
          ? escalatedTo(approval).map(({ people, groups }) => ({ people, groups }))
          : undefined,
      supersedes: approval?.supersedes || undefined,
      decision: decision && {
        approved: decision.approved,
        decided_by: decision.decidedBy,
        decided_at: timeText(decision.decidedAt),
        reason: decision.reason,
        grant_id: decision.appliedGrant?.grantId,
        break_glass: decision.breakGlass && {
          rule: decision.breakGlass.rule || undefined,
          freeze: decision.breakGlass.freeze || undefined,
          decidable_after: timeText(decision.breakGlass.decidableAfter),
          without_votes: decision.breakGlass.withoutVotes,
        },
      },
      arguments: notification.arguments || undefined,
      url: linkTo(publicUrl, approval?.approvalId ?? ""),
    },
  };
}

function runMessage(
  run: EndedRun,
  { tenant, occurredAt }: Pick<Notification, "tenant" | "occurredAt">,
  publicUrl: string,
) {
  return {
    type: "run.ended",
    timestamp: timeText(occurredAt),
    data: {
      tenant,
      run_id: run.runId,
      agent_id: run.agentId,
      thread_id: run.threadId || undefined,
      started_by: run.startedBy,
      status: statusName(run.status),
      error_reason: run.errorReason || undefined,
      labels: run.labels,
      url: linkToRun(publicUrl, run.runId),
    },
  };
}
