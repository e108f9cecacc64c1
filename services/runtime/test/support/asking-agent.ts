import type { Artifact, Message } from "@a2a-js/sdk";
import { Role, TaskState } from "@a2a-js/sdk";
import type { AgentExecutor, ExecutionEventBus } from "@a2a-js/sdk/server";
import { AgentEvent } from "@a2a-js/sdk/server";

const textPart = (value: string) => ({
  content: { $case: "text", value } as const,
  metadata: undefined,
  filename: "",
  mediaType: "",
});

const said = (text: string): Message => ({
  messageId: "m",
  taskId: "",
  contextId: "",
  role: Role.ROLE_AGENT,
  parts: [textPart(text)],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

const artifact = (text: string): Artifact => ({
  artifactId: "a",
  name: "",
  description: "",
  parts: [textPart(text)],
  metadata: undefined,
  extensions: [],
});

export const status = (state: TaskState, message?: Message) => ({
  state,
  message,
  timestamp: undefined,
});

/** An agent that asks for a color, and then names it. */
export const asking: AgentExecutor = {
  async execute({ taskId, contextId, userMessage, task }, bus) {
    const [part] = userMessage.parts;
    const text = part?.content?.$case === "text" ? part.content.value : "";
    const update = (state: TaskState, message?: Message) =>
      publish(
        bus,
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: status(state, message),
          metadata: undefined,
        }),
      );
    // As it was before the message.
    const known = {
      id: taskId,
      contextId,
      status: task?.status ?? status(TaskState.TASK_STATE_SUBMITTED),
      artifacts: [],
      history: [userMessage],
      metadata: undefined,
    };
    publish(bus, AgentEvent.task(known));
    if (task === undefined) {
      return update(TaskState.TASK_STATE_INPUT_REQUIRED, said("Which color?"));
    }
    const whole = { artifact: artifact(`It is ${text}.`), append: false, lastChunk: true };
    publish(bus, AgentEvent.artifactUpdate({ taskId, contextId, ...whole, metadata: undefined }));
    update(TaskState.TASK_STATE_COMPLETED);
    return await Promise.resolve();
  },
  cancelTask: () => Promise.resolve(),
};

function publish(bus: ExecutionEventBus, event: Parameters<ExecutionEventBus["publish"]>[0]): void {
  bus.publish(event);
}
