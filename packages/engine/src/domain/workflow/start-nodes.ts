import { delegateBudgets } from "../budget/delegate-budget.ts";
import { parallelCallsIn } from "../budget/frame-caps.ts";
import { limitsOf } from "../budget/limits.ts";
import type { ExceededBudget } from "../budget/over-budget.ts";
import { exceededDelegate, exceededWork } from "../budget/over-budget.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { callsInProgress, isWaiting } from "./calls-in-progress.ts";
import type { NodeStart } from "./node-starts.ts";

/** The calls that start now, or the budget that stands in the way. */
export type Admitted =
  | { readonly kind: "starts"; readonly starts: readonly NodeStart[] }
  | { readonly kind: "exceeded"; readonly exceeded: ExceededBudget };

/**
 * Returns which of the calls that are ready start now: no more than may run at the same time, beside those in progress, and no more than the
 * budgets permit. Calls that wait for a person or a time are not in progress, and need no room. The others start in turn: first one of the
 * node whose last call started the longest time ago.
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
  const room = parallelCallsIn(state, frame) - callsInProgress(frame);
  const left = delegateBudgets(state, frame).map(
    ({ limits, toolCalls }) => limits.toolCalls - toolCalls,
  );
  const waiting = ready.filter(({ tool }) => isWaiting(frame, tool));
  const others = ready.filter((start) => !waiting.includes(start));
  const next = [...waiting, ...inTurn(frame, others).slice(0, Math.max(0, room))];
  return {
    kind: "starts",
    starts: next.slice(0, Math.max(0, Math.min(callsLeft(state), ...left))),
  };
}

/** Returns the starts in rounds, each with one of every node. */
function inTurn({ calls }: Frame, starts: readonly NodeStart[]): readonly NodeStart[] {
  const last = new Map(calls.map(({ call }, index) => [call.nodeId, index]));
  const nodes = [...Map.groupBy(starts, ({ nodeId }) => nodeId)]
    .toSorted(([a], [b]) => (last.get(a) ?? -1) - (last.get(b) ?? -1))
    .map(([, own]) => own);
  const rounds = Math.max(0, ...nodes.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, round) =>
    nodes.flatMap((own) => own[round] ?? []),
  ).flat();
}

function callsLeft(state: RunState): number {
  return limitsOf(state).toolCalls - state.head.spent.toolCalls;
}

function exceededCalls(state: RunState): ExceededBudget | undefined {
  if (callsLeft(state) > 0) return undefined;
  const limit = limitsOf(state).toolCalls;
  return { reason: "tool_calls", limit, observed: state.head.spent.toolCalls + 1 };
}
