import { trace } from "@opentelemetry/api";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { attributes } from "@reeve/platform/telemetry/span-names";

/** Adds an event to the active span for each requested approval. The wait is not a span, because it may take days. */
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
