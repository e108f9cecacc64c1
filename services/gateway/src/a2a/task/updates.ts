import type { Artifact, Message, StreamResponse, TaskState, TaskStatus } from "@a2a-js/sdk";
import type { JsonObject } from "@bufbuild/protobuf";
import type { TaskIds } from "./parts.ts";

interface Status extends TaskIds {
  readonly state: TaskState;
  readonly message: Message | undefined;
  readonly changedAt: string | undefined;
}

export function statusOf({ state, message, changedAt: timestamp }: Status): TaskStatus {
  return { state, message, timestamp };
}

/** Returns the update for a client that has a task in an earlier state. */
export function statusUpdate(status: Status, metadata?: JsonObject): StreamResponse {
  const { taskId, contextId } = status;
  const value = { taskId, contextId, status: statusOf(status), metadata };
  return { payload: { $case: "statusUpdate", value } };
}

/** Returns the update for a client that has a task with an earlier form of an artifact, or without it. */
export function artifactUpdate(
  { taskId, contextId }: TaskIds,
  artifact: Artifact,
  { append, lastChunk }: { readonly append: boolean; readonly lastChunk: boolean },
): StreamResponse {
  const value = { taskId, contextId, artifact, append, lastChunk, metadata: undefined };
  return { payload: { $case: "artifactUpdate", value } };
}
