import { readingLength, readingLengthOfBytes } from "@reeve/agent/text/reading-length";
import { toBinary } from "@bufbuild/protobuf";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { HistoryMessageSchema } from "@reeve/contracts/thread";

/** Bytes of the tag and the length of a message in a list. */
const overhead = 6;

/** Returns the size of a message in a log, in bytes. */
export function bytesOf(message: HistoryMessage): number {
  return toBinary(HistoryMessageSchema, message).length + overhead;
}

/** Returns the reading length of a message. A turn counts verbatim if its provider format is kept, otherwise as text and calls. */
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
