import { ToolStatus } from "@reeve/contracts/tool";
import type { Fact } from "../state/fact.ts";
import { scopeOf } from "../state/frame.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { liveFrames } from "../state/run-state.ts";
import { refuse } from "../calls/tool-result.ts";
import { delegateBudgets } from "./delegate-budget.ts";
import { limitsOf } from "./limits.ts";
import type { ExceededBudget } from "./over-budget.ts";
import { budgetRefusal, delegateRefusal, exceededTotal, overBudget } from "./over-budget.ts";

/**
 * Returns refusals of all calls that have not started, in every frame, if a budget of the whole run is exceeded; none while
 * all budgets hold. Too many tool calls end the run at once. Any other budget ends it at its next step, so that the calls in
 * progress still get their results.
 */
export function refusedCalls(state: RunState, nowMs: number): readonly Fact[] {
  const frames = liveFrames(state).filter(({ hasTurn }) => hasTurn);
  if (frames.length === 0) return [];
  const tooMany = tooManyCalls(state);
  const exceeded = tooMany ?? exceededTotal(state);
  if (exceeded === undefined) return refusedOfDelegates(state, frames, nowMs);
  const refused = frames.flatMap((frame) =>
    frame.calls
      .filter(({ result, startedAtMs }) => result === undefined && startedAtMs === undefined)
      .map((call) =>
        refuse(call, scopeOf(frame), budgetRefusal(exceeded), ToolStatus.ERROR, nowMs),
      ),
  );
  return tooMany === undefined ? refused : [...refused, ...overBudget(state, tooMany)];
}

/** Returns refusals of the calls that have not started of a delegate that made too many: it ends at its next step. */
function refusedOfDelegates(
  state: RunState,
  frames: readonly Frame[],
  nowMs: number,
): readonly Fact[] {
  return frames.flatMap((frame) => {
    const over = delegateBudgets(state, frame).find(
      ({ toolCalls, limits }) => toolCalls > limits.toolCalls,
    );
    if (over === undefined) return [];
    const exceeded = { reason: "tool_calls", limit: over.limits.toolCalls } as const;
    const content = delegateRefusal(over.agentId, exceeded);
    return frame.calls
      .filter(({ result, startedAtMs }) => result === undefined && startedAtMs === undefined)
      .map((call) => refuse(call, scopeOf(frame), content, ToolStatus.ERROR, nowMs));
  });
}

function tooManyCalls(state: RunState): ExceededBudget | undefined {
  const limit = limitsOf(state).toolCalls;
  const observed = state.head.spent.toolCalls;
  return observed > limit ? { reason: "tool_calls", limit, observed } : undefined;
}
