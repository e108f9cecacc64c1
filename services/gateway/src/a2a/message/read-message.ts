import { createHash } from "node:crypto";
import type { Message, Part } from "@a2a-js/sdk";
import { Role } from "@a2a-js/sdk";
import { ContentTypeNotSupportedError, RequestMalformedError } from "@a2a-js/sdk/errors";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ContentPartSchema } from "@reeve/contracts/content/parts";
import type { StartRunRequestSchema } from "@reeve/contracts/run";
import { maxJsonDepth, isStorable } from "@reeve/contracts/rules/nesting";
import { OnBusy } from "@reeve/contracts/run";

/** The label of the runs that were started through A2A. Its value is the id of the message. Only they are tasks. */
export const taskLabel = "a2a.message_id";
/** The most characters of the label; each may have up to four bytes. */
const maxLabel = 256;

type PartInit = MessageInitShape<typeof ContentPartSchema>;

/** What a message says, in the form of the API. */
export interface MessageContent {
  readonly text: string;
  readonly parts: readonly PartInit[];
}

const contextPattern = /^[a-zA-Z0-9_-]{1,128}$/;
/** The maximum size of an inline file, in bytes: that of the API. */
const maxFileBytes = 2 * 1024 * 1024;

/** Returns the message of a request. Throws an A2AError if it is missing, or not one of a client. */
export function assertUserMessage(message: Message | undefined): Message {
  if (message === undefined) throw malformed("message is required");
  if (message.messageId === "") throw malformed("message.messageId is required");
  if (message.role !== Role.ROLE_USER && message.role !== Role.ROLE_UNSPECIFIED) {
    throw malformed("message.role must be ROLE_USER");
  }
  if (message.parts.length === 0) throw malformed("message.parts must have a part");
  for (const [index, { content }] of message.parts.entries()) {
    if (content?.$case === "data" && !isStorable(content.value)) {
      throw malformed(
        `message.parts[${index}].data is nested deeper than ${maxJsonDepth} levels, or no valid JSON`,
      );
    }
  }
  if (message.contextId !== "" && !contextPattern.test(message.contextId)) {
    throw malformed("message.contextId must have 1 to 128 letters, digits, _ and -");
  }
  return message;
}

/** What the address of a file begins with that this gateway has. */
const storedFile = "artifact:";

/** Returns a message whose files at this gateway are named by their artifacts. `fileIdIn` returns the artifact that an address of it names. */
export function withStoredFiles(
  message: Message,
  fileIdIn: (url: string) => string | undefined,
): Message {
  const parts = message.parts.map((part) => {
    const id = part.content?.$case === "url" ? fileIdIn(part.content.value) : undefined;
    const content = { $case: "url", value: `${storedFile}${id}` } as const;
    return id === undefined ? part : { ...part, content };
  });
  return { ...message, parts };
}

/** Whose message it is, and for which agent. */
interface Sender {
  readonly agentId: string;
  /** The caller: the ids of messages are those of a client. */
  readonly subject: string;
}

/**
 * Returns the request that starts the run of a message. A message that the same caller sends again, with the same id and content, is the
 * same run; the API refuses one with the same id and other content.
 */
export function startRequestOf(
  { agentId, subject }: Sender,
  message: Message,
): MessageInitShape<typeof StartRunRequestSchema> {
  const { text, parts } = contentOf(message);
  const id = hashed([agentId, subject, message.messageId]);
  return {
    agentId,
    input: text,
    parts: [...parts],
    requestId: id,
    threadId: message.contextId === "" ? id : message.contextId,
    onBusy: OnBusy.QUEUE,
    labels: { [taskLabel]: message.messageId.slice(0, maxLabel) },
  };
}

/** Returns the id of what a message changes, by which its repetition changes nothing. */
export function idOf(scope: string, { messageId, contextId, parts }: Message): string {
  return hashed([scope, messageId, contextId, parts]);
}

function hashed(value: readonly unknown[]): string {
  const hash = createHash("sha256").update(JSON.stringify(value));
  return `a2a-${hash.digest("hex").slice(0, 40)}`;
}

/** Returns what a message says. Texts, and data as JSON, are one text if the message has nothing else. */
export function contentOf({ parts }: Pick<Message, "parts">): MessageContent {
  const inits = parts.map(initOf);
  const texts = inits.map((init) =>
    init.part?.case === "text" ? (init.part.value ?? "") : undefined,
  );
  if (texts.every((text) => text !== undefined)) {
    return { text: assertText(texts.join("\n\n")), parts: [] };
  }
  const first = texts[0];
  return first === undefined
    ? { text: namesOf(parts), parts: inits }
    : { text: assertText(first), parts: inits.slice(1) };
}

function initOf(part: Part, index: number): PartInit {
  const { content, mediaType, filename: name } = part;
  switch (content?.$case) {
    case "text":
      return { part: { case: "text", value: content.value } };
    case "data":
      return { part: { case: "text", value: JSON.stringify(content.value ?? null) } };
    case "raw": {
      if (content.value.length > maxFileBytes) {
        throw malformed(`message.parts[${index}] has more than ${maxFileBytes} bytes`);
      }
      return { part: { case: "file", value: { content: content.value, mediaType, name } } };
    }
    case "url":
      if (content.value.startsWith(storedFile)) {
        const artifactId = content.value.slice(storedFile.length);
        return { part: { case: "file", value: { artifactId, mediaType, name } } };
      }
      throw new ContentTypeNotSupportedError({
        message: `message.parts[${index}] is an address outside of this gateway, which reads no other addresses; send the bytes of the file`,
      });
    case undefined:
      throw malformed(`message.parts[${index}] has none of text, raw, url, and data`);
  }
}

function assertText(text: string): string {
  if (text.trim() === "") throw malformed("message.parts has no text");
  return text;
}

/** The text of a message that has only files. */
function namesOf(parts: readonly Part[]): string {
  const names = parts.flatMap(({ filename }) => (filename === "" ? [] : [filename]));
  return names.length === 0 ? "Attached files" : `Attached files: ${names.join(", ")}`;
}

function malformed(message: string): RequestMalformedError {
  return new RequestMalformedError({ message });
}
