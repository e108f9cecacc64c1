import type { Message, Part } from "@a2a-js/sdk";
import { Role } from "@a2a-js/sdk";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { RemoteUsage } from "@reeve/agent/resolve/remote-usage";
import type { ModelRequest, PromptMessage, RemoteTurn } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";

import { filePart } from "./remote-files.ts";

/** The format of the turns of remote agents. */
export const remoteFormat = "a2a";

/** What a turn of a remote agent records, so that the next message continues there. */
export interface RecordedTurn {
  /** The URL of the endpoint. What one agent says is not for another. */
  readonly url: string;
  readonly contextId: string;
  /** The data of the request that the agent waits for. */
  readonly request?: JsonObject;
  /** Id of the message with which the agent asked. */
  readonly askedId?: string;
  /** What the task had used until then, if the agent reports it. */
  readonly used?: { readonly taskId: string; readonly usage: RemoteUsage };
}

/** Returns the message of a step: what users said since the agent's last answer, after the answer to what the agent asked. */
export function remoteMessage(request: ModelRequest, turn: RemoteTurn): Message {
  const recorded = lastTurn(request);
  const contextId = turn.contextId === "" ? (recorded?.contextId ?? "") : turn.contextId;
  const parts = newMessages(request).flatMap((each) => partsOf(each, request, recorded?.request));
  if (parts.length === 0) throw new ModelFailure("invalid", "there is no message to send");
  return {
    messageId: turn.messageId,
    taskId: turn.taskId,
    contextId,
    role: Role.ROLE_USER,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

type NewMessage = Extract<PromptMessage, { role: "user" | "tool" }>;

/** Returns the messages after the last turn of the conversation. */
function newMessages({ messages }: ModelRequest): readonly NewMessage[] {
  const last = messages.findLastIndex(({ role }) => role === "verbatim" || role === "assistant");
  return messages.slice(last + 1).filter((each): each is NewMessage => {
    return each.role === "user" || each.role === "tool";
  });
}

function partsOf(
  message: NewMessage,
  { files }: Pick<ModelRequest, "files">,
  asked: JsonObject | undefined,
): readonly Part[] {
  if (message.role === "user") {
    const given = message.parts ?? [];
    const texts = given.flatMap((part) => (part.kind === "text" ? [part.text] : []));
    const attached = given.flatMap((part) =>
      part.kind === "file" ? [filePart(part, { ...(files && { files }) })] : [],
    );
    return [textPart([message.text, ...texts].join("\n\n")), ...attached];
  }
  if (asked !== undefined) return [dataPart(decisionOn(asked, message))];
  const answer = message.isError ? undefined : answerIn(message.content);
  return [textPart(typeof answer === "string" ? answer : message.content)];
}

/** Returns the answer to a request of a Reeve. A person who declines to answer rejects, and so does one who never does. */
function decisionOn(
  request: JsonObject,
  { content, isError }: Extract<NewMessage, { role: "tool" }>,
): JsonObject {
  const approvalId = request["approvalId"] ?? "";
  const answer = isError ? undefined : answerIn(content);
  if (request["kind"] === "approval") {
    const decision = answer === "approve" ? "approve" : "reject";
    return { approvalId, decision, ...(isError && { reason: content.slice(0, 1_000) }) };
  }
  if (answer === undefined)
    return { approvalId, decision: "decline", reason: content.slice(0, 1_000) };
  return { approvalId, answer: objectIn(content) ?? answer };
}

/** The result of `ask_user` is the answer as JSON: an object, of which the only property of a simple question is `answer`. */
function answerIn(content: string): JsonValue | undefined {
  const given = objectIn(content);
  return given === undefined ? content : (given["answer"] ?? given);
}

function objectIn(content: string): JsonObject | undefined {
  try {
    const value = JSON.parse(content) as JsonValue;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the id of the message with which the agent asked what is answered now. Empty: nothing is, or it is unknown. */
export function answeredId(request: ModelRequest): string {
  const isAnswer = newMessages(request).some(({ role }) => role === "tool");
  return isAnswer ? (lastTurn(request)?.askedId ?? "") : "";
}

/** Returns the last turn of the remote agent, of this run or of an earlier one of its thread. */
export function lastTurn({ messages, model }: ModelRequest): RecordedTurn | undefined {
  for (const message of messages.toReversed()) {
    if (message.role !== "verbatim" || (message.format ?? remoteFormat) !== remoteFormat) continue;
    // This provider wrote it.
    const recorded = JSON.parse(message.messageJson) as RecordedTurn;
    if (recorded.url === model.upstreamName) return recorded;
  }
  return undefined;
}

function textPart(value: string): Part {
  const content = { $case: "text", value } as const;
  return { content, metadata: undefined, filename: "", mediaType: "text/plain" };
}

function dataPart(value: JsonObject): Part {
  const content = { $case: "data", value } as const;
  return { content, metadata: undefined, filename: "", mediaType: "application/json" };
}
