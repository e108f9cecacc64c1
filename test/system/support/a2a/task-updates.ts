import type { StreamResponse, Task, TaskState } from "@a2a-js/sdk";

/** Returns the task in the result of a message. */
export function taskIn(result: object): Task {
  if (!("status" in result)) throw new Error("the agent answered with a message");
  // A result is a task or a message.
  return result as Task;
}

/** Returns the answer of a task. */
export const answerOf = ({ artifacts }: Task) => {
  const content = artifacts.find(({ artifactId }) => artifactId === "answer")?.parts[0]?.content;
  return content?.value as unknown;
};

/** Returns all events of a stream. */
export async function collect(stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const all: StreamResponse[] = [];
  for await (const event of stream) all.push(event);
  return all;
}

/** Returns what a client that follows the updates of a task has of its answer in the end. */
export function assembled(events: readonly StreamResponse[]): string {
  let text = "";
  for (const { payload } of events) {
    // A task that is fast has its answer before it is streamed.
    const isTask = payload?.$case === "task";
    if (!isTask && payload?.$case !== "artifactUpdate") continue;
    const artifact = isTask ? payload.value.artifacts[0] : payload.value.artifact;
    const content = artifact?.parts[0]?.content;
    const piece = content?.$case === "text" ? content.value : "";
    text = !isTask && payload.value.append ? text + piece : piece;
  }
  return text;
}

/** Returns the states of the task in its updates. */
export function statesIn(events: readonly StreamResponse[]): readonly (TaskState | undefined)[] {
  return events.flatMap(({ payload }) =>
    payload?.$case === "task" || payload?.$case === "statusUpdate"
      ? [payload.value.status?.state]
      : [],
  );
}
