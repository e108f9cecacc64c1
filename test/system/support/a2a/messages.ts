import { Role } from "@a2a-js/sdk";

let sent = 0;

/** Returns a request to send a message with a text or with data. Each has its own id. */
export function message(
  content: string | object,
  ids: { contextId?: string; taskId?: string } = {},
) {
  sent += 1;
  const part =
    typeof content === "string"
      ? ({ $case: "text", value: content } as const)
      : ({ $case: "data", value: content } as const);
  return {
    tenant: "",
    configuration: undefined,
    metadata: undefined,
    message: {
      messageId: `message-${sent}`,
      contextId: ids.contextId ?? "",
      taskId: ids.taskId ?? "",
      role: Role.ROLE_USER,
      parts: [{ content: part, metadata: undefined, filename: "", mediaType: "" }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  };
}
