import { delegateFrames } from "../../delegates/callers-of.ts";
import { workingAgent } from "../../delegates/working-agent.ts";
import type { Frame } from "../../state/frame.ts";
import type { RunState } from "../../state/run-state.ts";
import { rootOf } from "../../state/run-state.ts";

/**
 * Returns the frame whose model reviews the calls of a frame. The agent of the run has the policy that names the reviewer, so its model reviews the
 * calls of delegates too: a delegate never reviews its own.
 */
export function reviewingFrame(state: RunState, frame: Frame): Frame {
  return frame.delegate === undefined ? frame : rootOf(state);
}

/**
 * Whether the model may approve calls of a frame by the specs of the delegates that it works for. One without the policy has calls that people
 * decide on when it runs alone.
 */
export function delegatesPermitVotes(state: RunState, frame: Frame): boolean {
  return delegateFrames(state, frame).every(
    (began) => workingAgent(state, began).spec?.approvalPolicy?.reviewer?.votes !== undefined,
  );
}
