import { create } from "@bufbuild/protobuf";
import { fileNote } from "@reeve/contracts/content/media";
import type { ContentPart } from "@reeve/contracts/content/parts";
import { ContentPartSchema } from "@reeve/contracts/content/parts";
import type { RunCreated, RunEvent } from "@reeve/contracts/run";
import type { HistoryMessage, Message } from "@reeve/contracts/thread";
import { HistoryMessageSchema } from "@reeve/contracts/thread";

/** Reasons for which a provider refuses a request for its content: a file may be one that it cannot decode. */
const ofContent: ReadonlySet<string> = new Set(["invalid", "refused", "context_overflow"]);

const why = "left out, because the provider refused the request with it";

/** Whether a provider refused the last request of a run for its content. */
export function isRequestRefused(events: readonly RunEvent[]): boolean {
  const last = events.findLast(({ event }) =>
    ["modelCallFailed", "modelTurn"].includes(event.case ?? ""),
  );
  return last?.event.case === "modelCallFailed" && ofContent.has(last.event.value.reason);
}

/**
 * Returns messages with notes instead of files. The text of a result names its files already. Default reason: the provider refused them.
 */
export function messagesWithoutFiles(
  messages: readonly HistoryMessage[],
  reason = why,
): readonly HistoryMessage[] {
  return messages.map((history) => {
    const { message } = history;
    if (message.case === "user" && message.value.parts.length > 0) {
      const value = {
        ...message.value,
        parts: [...partsWithoutFiles(message.value.parts, reason)],
      };
      return create(HistoryMessageSchema, { message: { case: "user", value } });
    }
    if (message.case !== "toolResult" || message.value.files.length === 0) return history;
    const value = { ...message.value, files: [] };
    return create(HistoryMessageSchema, { message: { case: "toolResult", value } });
  });
}

/** Returns the input of a run, and the messages before it, with notes instead of files. */
export function inputWithoutFiles({
  parts,
  messages,
}: Pick<RunCreated, "parts" | "messages">): Pick<RunCreated, "parts" | "messages"> {
  return {
    parts: [...partsWithoutFiles(parts, why)],
    messages: messages.map((each): Message => ({
      ...each,
      parts: [...partsWithoutFiles(each.parts, why)],
    })),
  };
}

function partsWithoutFiles(parts: readonly ContentPart[], reason: string): readonly ContentPart[] {
  return parts.map((each) =>
    each.part.case === "file"
      ? create(ContentPartSchema, {
          part: { case: "text", value: fileNote(each.part.value, reason) },
        })
      : each,
  );
}
