import { readingLength, readingLengthOfBytes } from "@reeve/agent/text/reading-length";
import { toBinary } from "@bufbuild/protobuf";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { HistoryMessageSchema } from "@reeve/contracts/thread";

/** A message costs its tag and its length too, wherever it stands in a list. */
const overhead = 6;

/** What a message takes in a log, in bytes. */
export function bytesOf(message: HistoryMessage): number {
  return toBinary(HistoryMessageSchema, message).length + overhead;
}

/** What a model reads of a message, as its reading length: a turn verbatim, or what it said and called, never both. */
export function charactersOf({ message }: HistoryMessage): number {
  switch (message.case) {
    case "user":
      return readingLength(message.value.text);
    case "assistant": {
      const { text, messageJson, calls } = message.value;
      if (messageJson.length > 0) return readingLengthOfBytes(messageJson);
      return calls.reduce(
        (sum, { name, argumentsText }) => sum + readingLength(name) + readingLength(argumentsText),
        readingLength(text),
      );
    }
    case "toolResult":
      return readingLength(message.value.content);
    case undefined:
      return 0;
  }
  return 0;
}
