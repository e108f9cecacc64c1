import type { Artifact, Part } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import type { AgentExecutor } from "@a2a-js/sdk/server";
import { AgentEvent } from "@a2a-js/sdk/server";
import { status } from "./asking-agent.ts";

/** Returns a part with a file, by its bytes or its address. */
export function fileOf(value: string | Buffer, filename: string, mediaType: string): Part {
  const content =
    typeof value === "string"
      ? ({ $case: "url", value } as const)
      : ({ $case: "raw", value } as const);
  return { content, filename, mediaType, metadata: undefined };
}

/** Returns an artifact with these parts. */
export function artifactOf(parts: readonly Part[]): Artifact {
  return {
    artifactId: "a",
    name: "",
    description: "",
    parts: [...parts],
    metadata: undefined,
    extensions: [],
  };
}

/** An agent that answers every message with a task that has these parts. `seen` gets the parts of the messages. */
export function answering(
  parts: readonly Part[],
  seen: Part[] = [],
  state = TaskState.TASK_STATE_COMPLETED,
): AgentExecutor {
  return {
    async execute({ taskId, contextId, userMessage }, bus) {
      seen.push(...userMessage.parts);
      const task = {
        id: taskId,
        contextId,
        status: status(state),
        artifacts: [artifactOf(parts)],
        history: [userMessage],
        metadata: undefined,
      };
      bus.publish(AgentEvent.task(task));
      return await Promise.resolve();
    },
    cancelTask: () => Promise.resolve(),
  };
}
