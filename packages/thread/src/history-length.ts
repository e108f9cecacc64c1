import type { HistoryMessage } from "@reeve/contracts/thread";

/** About how many bytes a message takes. */
export function lengthOf({ message }: HistoryMessage): number {
  switch (message.case) {
    case "user":
      return Buffer.byteLength(message.value.text);
    case "assistant": {
      const { text, messageJson, calls } = message.value;
      const made = calls.reduce((sum, { argumentsText }) => sum + argumentsText.length + 100, 0);
      return Buffer.byteLength(text) + messageJson.length + made;
    }
    case "toolResult":
      return Buffer.byteLength(message.value.content);
    case undefined:
      return 0;
  }
  return 0;
}
