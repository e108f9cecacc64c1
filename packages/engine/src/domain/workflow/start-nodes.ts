import { isWaitNode } from "@reeve/agent/workflow/wait-tools";
import { ApprovalState } from "@reeve/contracts/approval";
import { delegateBudgets } from "../budget/delegate-budget.ts";
import { parallelCallsIn } from "../budget/frame-caps.ts";
import { limitsOf } from "../budget/limits.ts";
import type { ExceededBudget } from "../budget/over-budget.ts";
import { exceededDelegate, exceededWork } from "../budget/over-budget.ts";
import { unansweredCalls } from "../calls/unanswered-calls.ts";
import type { Call, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import type { NodeStart } from "./node-starts.ts";

/** The calls that start now, or the budget that stands in the way. */
export type Admitted =
  | { readonly kind: "starts"; readonly starts: readonly NodeStart[] }
  | { readonly kind: "exceeded"; readonly exceeded: ExceededBudget };

/**
 * Returns which of the calls that are ready start now: no more than may run at the same time, beside those in progress, and no more than the
 * budgets permit. Calls that wait for a person or a time are not in progress.
 */
export function admitStarts(
  state: RunState,
  frame: Frame,
  ready: readonly NodeStart[],
  nowMs: number,
): Admitted {
  if (ready.length === 0) return { kind: "starts", starts: [] };
  const exceeded =
    exceededWork(state, nowMs) ?? exceededCalls(state) ?? exceededDelegate(state, frame, nowMs);
  if (exceeded !== undefined) return { kind: "exceeded", exceeded };
  const room = parallelCallsIn(state, frame) - inProgress(frame);
  const left = delegateBudgets(state, frame).map(
    ({ limits, toolCalls }) => limits.toolCalls - toolCalls,
  );
  const count = Math.min(room, callsLeft(state), ...left);
  return { kind: "starts", starts: ready.slice(0, Math.max(0, count)) };
}

function callsLeft(state: RunState): number {
  return limitsOf(state).toolCalls - state.head.spent.toolCalls;
}

function exceededCalls(state: RunState): ExceededBudget | undefined {
  if (callsLeft(state) > 0) return undefined;
  const limit = limitsOf(state).toolCalls;
  return { reason: "tool_calls", limit, observed: state.head.spent.toolCalls + 1 };
}

function inProgress(frame: Frame): number {
  return unansweredCalls(frame).filter((call) => !isWaiting(frame, call)).length;
}

function isWaiting({ tools }: Frame, { call, approval, clientCall }: Call): boolean {
  const tool = tools.get(call.name);
  return (
    approval?.state === ApprovalState.PENDING ||
    clientCall?.isAnsweredByPerson === true ||
    (tool !== undefined && isWaitNode(tool))
  );
}
