import { tokensIn } from "@reeve/agent/text/count-tokens";
import { toBinary } from "@bufbuild/protobuf";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { HistoryMessageSchema } from "@reeve/contracts/thread";
import { fileTokens, partsTokens } from "../../parts/media-tokens.ts";

/** Bytes of the tag and the length of a message in a list. */
const overhead = 6;

/** Returns the size of a message in a log, in bytes. */
export function bytesOf(message: HistoryMessage): number {
  return toBinary(HistoryMessageSchema, message).length + overhead;
}

/** Returns the tokens of a message. A turn counts verbatim if its provider format is kept, otherwise as text and calls. */
export function tokensOf({ message }: HistoryMessage): number {
  switch (message.case) {
    case "user":
      return tokensIn(message.value.text) + partsTokens(message.value.parts);
    case "assistant": {
      const { text, messageJson, calls } = message.value;
      if (messageJson.length > 0) return tokensIn(decoder.decode(messageJson));
      return calls.reduce(
        (sum, { name, argumentsText }) => sum + tokensIn(name) + tokensIn(argumentsText),
        tokensIn(text),
      );
    }
    case "toolResult":
      return message.value.files.reduce(
        (sum, file) => sum + fileTokens(file),
        tokensIn(message.value.content),
      );
    case undefined:
      return 0;
  }
  return 0;
}

const decoder = new TextDecoder();
