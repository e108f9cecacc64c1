import { trace } from "@opentelemetry/api";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { attributes } from "@reeve/platform/telemetry/span-names";

/** Says in the active span that a run asks for an approval: the wait itself, of days perhaps, is no span. */
export function recordApprovalRequests(events: readonly RunEvent[]): void {
  const span = trace.getActiveSpan();
  if (span === undefined) return;
  for (const { event } of events) {
    const approval = event.case === "approval" ? event.value.approval : undefined;
    if (approval?.state !== ApprovalState.PENDING) continue;
    const { approvalId, call } = approval;
    span.addEvent("approval_requested", {
      [attributes.approvalId]: approvalId,
      [attributes.toolName]: call?.name ?? "",
    });
  }
}
