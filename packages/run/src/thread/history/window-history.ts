import type { HistoryMessage, TurnEnded } from "@reeve/contracts/thread";
import { messagesWithoutFiles } from "../../parts/without-files.ts";
import { fitHistory } from "./fit-history.ts";
import { bytesOf, tokensOf } from "./history-length.ts";

/** Maximum size of the history in a run's log, in bytes: well below the largest message of the bus. */
export const maxHistoryBytes = 512 * 1024;

/** The size of a part of the newest turn that alone exceeds the limit. */
const bytesPerToken = 3;

/**
 * Returns the conversation of the newest of `turns`, which are ordered, that fit in about `maxTokens`, oldest first. A turn is
 * included as a whole or not at all; one that fits only without its files has notes instead of them. Only if the newest turn alone exceeds the limit, a part of it is included, so that the
 * model knows the last question. `maxTokens` 0: nothing.
 */
export function windowHistory(
  turns: readonly Pick<TurnEnded, "messages">[],
  maxTokens: number,
): readonly HistoryMessage[] {
  if (maxTokens <= 0) return [];
  let tokens = 0;
  let bytes = 0;
  const shown: (readonly HistoryMessage[])[] = [];
  for (const { messages } of turns.toReversed()) {
    if (messages.length === 0) continue;
    const left = { tokens: maxTokens - tokens, bytes: maxHistoryBytes - bytes };
    const noted = messagesWithoutFiles(messages, noRoom);
    const whole = [messages, noted].find((each) => isWithin(each, left));
    if (whole === undefined) {
      const room = Math.min(maxTokens * bytesPerToken, maxHistoryBytes);
      if (shown.length === 0) shown.push(fitHistory(noted, room));
      break;
    }
    tokens += sumOf(whole, tokensOf);
    bytes += sumOf(whole, bytesOf);
    shown.push(whole);
  }
  return shown.toReversed().flat();
}

const noRoom = "left out, because the history of the thread has no room for it";

function isWithin(
  messages: readonly HistoryMessage[],
  room: { readonly tokens: number; readonly bytes: number },
): boolean {
  return sumOf(messages, tokensOf) <= room.tokens && sumOf(messages, bytesOf) <= room.bytes;
}

function sumOf(
  messages: readonly HistoryMessage[],
  measure: (message: HistoryMessage) => number,
): number {
  return messages.reduce((sum, message) => sum + measure(message), 0);
}
