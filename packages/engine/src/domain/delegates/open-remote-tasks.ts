import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { workingAgent } from "./working-agent.ts";

/** A task that an agent at an endpoint has not ended, as far as the log says. */
export interface OpenRemoteTask {
  /** The URL of the endpoint. */
  readonly url: string;
  readonly taskId: string;
}

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
