import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { hookIdOf, stepPoint } from "../plugins/hook-points.ts";
import type { Call } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { taskKey } from "../subtasks/outcome.ts";
import { guardsAt } from "./guards-at.ts";
import { guardrailsId } from "./pinned-guards.ts";

/** Returns the calls of the open steps whose results guards look at, and have not passed. */
export function unpassedCalls(state: RunState): readonly Call[] {
  return [...state.frames.values()].flatMap((frame) =>
    frame.calls.filter((call) => {
      const point = stepPoint(frame, HookPhase.AFTER_TOOL, call);
      if (call.startedAtMs === undefined || guardsAt(state, point).length === 0) return false;
      return state.plugins?.outcomes.get(hookIdOf(state, point, guardrailsId))?.error !== "";
    }),
  );
}

/** Whether an entry of the memory is the result of a subtask of one of these calls. */
export function isResultOf(key: string, calls: readonly Call[]): boolean {
  return calls.some(({ call: { callId } }) => {
    const own = taskKey(callId);
    return key === own || key.startsWith(`${own}/`);
  });
}
