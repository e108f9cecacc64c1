import { delegateFrames } from "../delegates/callers-of.ts";
import { workingAgent } from "../delegates/working-agent.ts";
import { reservedForMedia } from "../media/media-call.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { workedMs } from "../state/worked-time.ts";
import type { Limits } from "./limits.ts";
import { frameLimits } from "./limits.ts";

/** A budget of a delegate, and what it and its subtasks have used of it. */
export interface DelegateBudget {
  readonly agentId: string;
  readonly limits: Limits;
  /** Depth of the frame in which the delegate began. */
  readonly depth: number;
  readonly llmCalls: number;
  readonly toolCalls: number;
  readonly subtasks: number;
  readonly tokens: number;
  readonly resultBytes: number;
  /** How long it may work, in milliseconds. Undefined: it states no limit, and that of the run alone holds. */
  readonly maxWorkMs: number | undefined;
  /** Returns for how long the run has been worked on since it began, in milliseconds. */
  readonly workedMs: (nowMs: number) => number;
  /**
   * Returns what it has cost, plus what its model calls in progress and its lost calls may cost at most. Infinite: a model without a price was
   * called. Call it only where there is a limit on cost: it reads all frames of the run.
   */
  readonly committedUsd: () => number;
}

/** Returns the budgets of the delegates that a frame works for: each has its own limits within those of the run. */
export function delegateBudgets(state: RunState, frame: Frame): readonly DelegateBudget[] {
  return delegateFrames(state, frame).flatMap((began) => {
    const { delegate, used } = began;
    if (delegate === undefined || used === undefined) return [];
    const { spent, lostUsd, unansweredCalls, beganAtWorkedMs } = used;
    const limits = frameLimits(state, began);
    const statesTime = workingAgent(state, began).spec?.budgets?.maxWallClock !== undefined;
    return [
      {
        agentId: delegate.agentId,
        limits,
        maxWorkMs: statesTime ? limits.wallClockMs : undefined,
        // The time that a provider took is left out afterwards, also from before the delegate began.
        workedMs: (nowMs) => Math.max(0, workedMs(state.worked, nowMs) - beganAtWorkedMs),
        depth: began.depth,
        llmCalls: spent.llmCalls - unansweredCalls,
        toolCalls: spent.toolCalls,
        subtasks: spent.subtasks,
        tokens: spent.inputTokens + spent.outputTokens,
        resultBytes: spent.resultBytes,
        committedUsd: () => (spent.costUsd ?? Infinity) + lostUsd + reservedUsd(state, began),
      },
    ];
  });
}

/** Returns what the model calls and generations in progress of a delegate and its subtasks may cost at most. */
function reservedUsd(state: RunState, began: Frame): number {
  return [...state.frames.values()].reduce((sum, frame) => {
    const reserved = (frame.modelCall?.reservedUsd ?? 0) + reservedForMedia(frame);
    return reserved > 0 && delegateFrames(state, frame).includes(began) ? sum + reserved : sum;
  }, 0);
}
