import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import type { RecordedAgent } from "./agent-of.ts";
import { agentOf } from "./agent-of.ts";

/** Returns the agent that works in a frame: the agent of the run, or the delegate that a call started. */
export function workingAgent(
  state: Pick<RunState, "head">,
  frame: Pick<Frame, "delegate"> | undefined,
): RecordedAgent {
  return agentOf(state, frame?.delegate?.agentId);
}
