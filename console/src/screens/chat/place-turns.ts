import type { ThreadMessage } from "@reeve/contracts/thread";

/** A part of a conversation: a message as it is stored, or a turn with all that its run did. */
type ConversationPart =
  | { readonly kind: "message"; readonly key: string; readonly message: ThreadMessage }
  | { readonly kind: "live"; readonly key: string; readonly runId: string };

/** Puts each watched turn in the place of its messages, and those whose messages are not stored yet at the end. */
export function placeTurns(
  messages: readonly ThreadMessage[],
  watched: readonly string[],
): readonly ConversationPart[] {
  const placed = new Set<string>();
  const parts: ConversationPart[] = [];
  const addTurn = (runId: string) => {
    if (placed.has(runId)) return;
    placed.add(runId);
    parts.push({ kind: "live", key: runId, runId });
  };
  messages.forEach((message, index) => {
    if (watched.includes(message.runId)) addTurn(message.runId);
    // Messages are only added at the end.
    else parts.push({ kind: "message", key: `${index}`, message });
  });
  watched.forEach(addTurn);
  return parts;
}
