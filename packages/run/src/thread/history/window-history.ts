import { charactersPerToken } from "@reeve/agent/text/reading-length";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { fitHistory } from "./fit-history.ts";
import { bytesOf, charactersOf } from "./history-length.ts";
import type { ThreadState } from "../thread-state.ts";

/** What the history in a run's own log may take: well below the largest message of the bus. */
const maxBytes = 512 * 1024;

/**
 * The conversation of a thread before the turn of `runId`: the turns that ended before it began, oldest first, as many of
 * the newest as come to about `maxTokens`. A turn is there as a whole, or not at all; only the newest, when it alone is
 * over the limit, is there in part, so that a model knows what it was asked last. `maxTokens` 0: nothing.
 */
export function windowHistory(
  { turns }: ThreadState,
  runId: string,
  maxTokens: number,
): readonly HistoryMessage[] {
  if (maxTokens <= 0) return [];
  const place = turns.findIndex((turn) => turn.runId === runId);
  const before = place === -1 ? turns : turns.slice(0, place);
  const maxCharacters = maxTokens * charactersPerToken;
  let characters = 0;
  let bytes = 0;
  const shown: (readonly HistoryMessage[])[] = [];
  for (const { ended } of before.toReversed()) {
    if (ended === undefined || ended.messages.length === 0) continue;
    characters += sumOf(ended.messages, charactersOf);
    bytes += sumOf(ended.messages, bytesOf);
    if (characters > maxCharacters || bytes > maxBytes) {
      const room = Math.min(maxCharacters, maxBytes);
      if (shown.length === 0) shown.push(fitHistory(ended.messages, room));
      break;
    }
    shown.push(ended.messages);
  }
  return shown.toReversed().flat();
}

function sumOf(
  messages: readonly HistoryMessage[],
  measure: (message: HistoryMessage) => number,
): number {
  return messages.reduce((sum, message) => sum + measure(message), 0);
}
