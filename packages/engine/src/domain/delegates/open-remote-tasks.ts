import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import type { OpenRemoteTask } from "./remote-task.ts";
import { workingAgent } from "./working-agent.ts";

/** Returns the open task of the agent that works in a frame. */
export function openTaskOf(
  state: Pick<RunState, "head">,
  frame: Frame,
  taskId = frame.remote?.taskId ?? "",
): OpenRemoteTask | undefined {
  const url = workingAgent(state, frame).spec?.endpoint?.url;
  return taskId === "" || url === undefined ? undefined : { url, taskId };
}

/** Returns all open tasks of a run, also those of delegates that have ended. */
export function openTasksOf(state: RunState): readonly OpenRemoteTask[] {
  const held = [...state.frames.values()].flatMap((frame) => openTaskOf(state, frame) ?? []);
  return [...state.leftTasks, ...held];
}
