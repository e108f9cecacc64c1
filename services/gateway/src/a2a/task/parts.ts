import type { Artifact, Message, Part } from "@a2a-js/sdk";
import { Role } from "@a2a-js/sdk";
import type { JsonValue } from "@bufbuild/protobuf";

/** Returns a part with text. */
export function textPart(value: string): Part {
  return part({ $case: "text", value }, "text/plain");
}

/** Returns a part with JSON. */
export function dataPart(value: JsonValue): Part {
  return part({ $case: "data", value }, "application/json");
}

/** Returns a part that names a file by its address. */
export function filePart(url: string, mediaType: string, filename: string): Part {
  return { ...part({ $case: "url", value: url }, mediaType), filename };
}

function part(content: NonNullable<Part["content"]>, mediaType: string): Part {
  return { content, mediaType, filename: "", metadata: undefined };
}

/** Where a message belongs. */
export interface TaskIds {
  readonly taskId: string;
  readonly contextId: string;
}

export function agentMessage(ids: TaskIds, messageId: string, parts: Part[]): Message {
  return { ...ids, messageId, role: Role.ROLE_AGENT, parts, ...noExtras() };
}

export function userMessage(ids: TaskIds, messageId: string, parts: Part[]): Message {
  return { ...ids, messageId, role: Role.ROLE_USER, parts, ...noExtras() };
}

function noExtras(): Pick<Message, "metadata" | "extensions" | "referenceTaskIds"> {
  return { metadata: undefined, extensions: [], referenceTaskIds: [] };
}

export function artifact(artifactId: string, name: string, parts: Part[]): Artifact {
  return { artifactId, name, parts, description: "", metadata: undefined, extensions: [] };
}
