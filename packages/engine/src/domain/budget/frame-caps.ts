import type { Budgets } from "@reeve/contracts/agent";
import { delegateFrames } from "../delegates/callers-of.ts";
import { workingAgent } from "../delegates/working-agent.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { limitsOf } from "./limits.ts";

/** Returns how many bytes of one tool result the model of a frame reads: the lowest limit of the run and of its delegates there. */
export function resultBytesIn(state: RunState, frame: Frame): number {
  return Math.min(
    limitsOf(state).resultBytes,
    ...ofDelegates(state, frame, ({ maxResultBytes }) => maxResultBytes),
  );
}

/** Returns how many calls of one turn of a frame run at the same time: the lowest limit of the run and of its delegates there. */
export function parallelCallsIn(state: RunState, frame: Frame): number {
  return Math.min(
    limitsOf(state).parallelCalls,
    ...ofDelegates(state, frame, ({ maxParallel }) => maxParallel),
  );
}

/** Only what a delegate states itself lowers a limit of the run: its defaults are those of a run of its own. */
function ofDelegates(
  state: RunState,
  frame: Frame,
  limit: (budgets: Budgets) => number | undefined,
): readonly number[] {
  return delegateFrames(state, frame).flatMap((began) => {
    const { budgets } = workingAgent(state, began).spec ?? {};
    return (budgets && limit(budgets)) ?? [];
  });
}
