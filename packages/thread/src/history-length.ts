import { toBinary } from "@bufbuild/protobuf";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { HistoryMessageSchema } from "@reeve/contracts/thread";

/** A message costs its tag and its length too, wherever it stands in a list. */
const overhead = 6;

/** What a message takes in a log, in bytes. */
export function bytesOf(message: HistoryMessage): number {
  return toBinary(HistoryMessageSchema, message).length + overhead;
}

/** What a model reads of a message, in characters: a turn verbatim, or what it said and called, never both. */
export function charactersOf({ message }: HistoryMessage): number {
  switch (message.case) {
    case "user":
      return message.value.text.length;
    case "assistant": {
      const { text, messageJson, calls } = message.value;
      if (messageJson.length > 0) return messageJson.length;
      return calls.reduce(
        (sum, { name, argumentsText }) => sum + name.length + argumentsText.length,
        text.length,
      );
    }
    case "toolResult":
      return message.value.content.length;
    case undefined:
      return 0;
  }
  return 0;
}
