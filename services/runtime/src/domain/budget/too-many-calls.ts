import { ToolStatus } from "@reeve/contracts/tool";
import type { Fact } from "../fact.ts";
import { scopeOf } from "../frame.ts";
import type { RunState } from "../run-state.ts";
import { liveFrames } from "../run-state.ts";
import { refuse } from "../tool-result.ts";
import { limitsOf } from "./limits.ts";
import { budgetRefusal, overBudget } from "./over-budget.ts";

/**
 * Once models have made more calls than the run may make, none is handed out any more, in whatever subtask: each that
 * waits reads why, then the run ends. Nothing while the budget holds.
 */
export function tooManyCalls(state: RunState, nowMs: number): readonly Fact[] {
  const limit = limitsOf(state).toolCalls;
  const observed = state.spent.toolCalls;
  const frames = liveFrames(state).filter(({ turnTaken }) => turnTaken);
  if (observed <= limit || frames.length === 0) return [];
  const exceeded = { reason: "tool_calls", limit, observed } as const;
  const refused = frames.flatMap((frame) =>
    frame.calls
      .filter(({ result, startedAtMs }) => result === undefined && startedAtMs === undefined)
      .map((call) =>
        refuse(call, scopeOf(frame), budgetRefusal(exceeded), ToolStatus.ERROR, nowMs),
      ),
  );
  return [...refused, ...overBudget(state, exceeded)];
}
