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
/** A decision repeats its call, whose arguments may be a file. There is one for each approval. */
const maxDecisionBytes = 320 * 1024;
/** Of a vote, which may be changed as often as people like. */
const maxVoteBytes = 64 * 1024;
/** Of what ends a call. */
const maxCallBytes = 64 * 1024;
/** The end of a run by its owner: without a long text that waits for room. */
const maxEndBytes = 16 * 1024;
/** The end of a turn, which has the messages of its run: at most 772 KiB, and the head. There is one for each run. */
const maxTurnEndBytes = 1024 * 1024;
/** What else happens to a turn that has its place. */
const maxTurnBytes = 256 * 1024;
/** The run of a turn that has its place already: without it, its thread could not continue. New turns get none. */
const maxTurnRunBytes = 1024 * 1024;

/** Whether a batch of a run's log may: a cancellation, a decision or a vote, a short end, and the run of a stored turn. */
export function runUsesReserve(events: readonly RunEvent[], bytes: number): boolean {
  return events.some(({ event }) => bytes <= maxReservedBytes(event));
}

function maxReservedBytes(event: RunEvent["event"]): number {
  if (event.case === "cancelRequested") return maxCancellationBytes;
  if (event.case === "runCreated") return event.value.threadId === "" ? 0 : maxTurnRunBytes;
  if (event.case === "approval") {
    const { approval } = event.value;
    if (approval?.state !== ApprovalState.PENDING) return maxDecisionBytes;
    return approval.votes.length === 0 ? 0 : maxVoteBytes;
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
  const isEnd = events.every(({ event }) => event.case === "turnEnded");
  if (isEnd) return bytes <= maxTurnEndBytes;
  return bytes <= maxTurnBytes && events.every(({ event }) => event.case !== "turnQueued");
}

/** Whether a batch of a call's journal may: a cancellation, and the answer of a person. */
export function callUsesReserve(facts: readonly ToolCallFact[], bytes: number): boolean {
  return (
    bytes <= maxCallBytes &&
    facts.every(({ fact }) => fact.case === "cancelled" || fact.case === "answer")
  );
}
