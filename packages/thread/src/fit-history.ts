import { create } from "@bufbuild/protobuf";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { HistoryMessageSchema } from "@reeve/contracts/thread";
import { lengthOf } from "./history-length.ts";

/** What the messages of a turn may take in the log of a thread: well below the largest message of the bus. */
const mostBytes = 512 * 1024;
/** What is left of a result, or of a text, that has to be cut. */
const keptCharacters = 2_000;

/**
 * The messages of a turn so that they fit a log: where they are too large, the oldest results are cut first, and then the
 * oldest messages. What was cut says so; the log of the run has all of it.
 */
export function fitHistory(messages: readonly HistoryMessage[]): readonly HistoryMessage[] {
  let excess = messages.reduce((sum, message) => sum + lengthOf(message), 0) - mostBytes;
  if (excess <= 0) return messages;
  const fitting = [...messages];
  for (const cut of [cutResult, cutText]) {
    for (const [index, message] of fitting.entries()) {
      if (excess <= 0) return fitting;
      const shorter = cut(message);
      excess -= lengthOf(message) - lengthOf(shorter);
      fitting[index] = shorter;
    }
  }
  return fitting;
}

function cutResult(history: HistoryMessage): HistoryMessage {
  const { message } = history;
  if (message.case !== "toolResult") return history;
  const value = { ...message.value, content: shortened(message.value.content) };
  return create(HistoryMessageSchema, { message: { case: "toolResult", value } });
}

/** A turn that is cut is no longer what its provider sent: it is told by its text and its calls. */
function cutText(history: HistoryMessage): HistoryMessage {
  const { message } = history;
  switch (message.case) {
    case "user": {
      const value = { text: shortened(message.value.text) };
      return create(HistoryMessageSchema, { message: { case: "user", value } });
    }
    case "assistant": {
      const value = {
        text: shortened(message.value.text),
        calls: message.value.calls.map((call) => ({
          ...call,
          argumentsText: call.argumentsText.length > keptCharacters ? "{}" : call.argumentsText,
        })),
      };
      return create(HistoryMessageSchema, { message: { case: "assistant", value } });
    }
    case "toolResult":
    case undefined:
      return history;
  }
  return history;
}

function shortened(text: string): string {
  if (text.length <= keptCharacters) return text;
  const kept = text.slice(0, keptCharacters).toWellFormed();
  return `${kept}\n[cut: ${text.length} characters in all]`;
}
