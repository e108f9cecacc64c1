import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import type { ThreadEvent } from "@reeve/contracts/thread";
import type { ToolCallFact } from "@reeve/contracts/tool";

/**
 * Which batches may use the reserve of a full store. The reserve is small, and runs in progress are many: text, calls, and results
 * wait until there is room again. A person's cancellation or decision, and what ends a run, do not wait. Each use is bounded, so
 * that the reserve lasts for many.
 */

/** A cancellation stores the tree of its run, which is at most 256 KiB. */
const maxCancellationBytes = 320 * 1024;
const maxDecisionBytes = 64 * 1024;
/** The end of a run by its owner: without a long text that waits for room. */
const maxEndBytes = 16 * 1024;
/** The end of a turn, which has the messages of its run. */
const maxTurnBytes = 256 * 1024;

/** Whether a batch of a run's log may: a cancellation, a decision or a vote, and a short end. */
export function runUsesReserve(events: readonly RunEvent[], bytes: number): boolean {
  return events.some(({ event }) => bytes <= maxReservedBytes(event));
}

function maxReservedBytes(event: RunEvent["event"]): number {
  if (event.case === "cancelRequested") return maxCancellationBytes;
  if (event.case === "approval") {
    const { approval } = event.value;
    const isRequest = approval?.state === ApprovalState.PENDING && approval.votes.length === 0;
    return isRequest ? 0 : maxDecisionBytes;
  }
  return event.case === "status" && endings.has(event.value.status) ? maxEndBytes : 0;
}

const endings: ReadonlySet<RunStatus> = new Set([
  RunStatus.COMPLETED,
  RunStatus.ERROR,
  RunStatus.CANCELLED,
]);

/** Whether a batch of a thread's log may: everything but a new turn. */
export function threadUsesReserve(events: readonly ThreadEvent[], bytes: number): boolean {
  return bytes <= maxTurnBytes && events.every(({ event }) => event.case !== "turnQueued");
}

/** Whether a batch of a call's journal may: a cancellation, and the answer of a person. */
export function callUsesReserve(facts: readonly ToolCallFact[], bytes: number): boolean {
  return (
    bytes <= maxDecisionBytes &&
    facts.every(({ fact }) => fact.case === "cancelled" || fact.case === "answer")
  );
}
