import type { HistoryMessage } from "@reeve/contracts/thread";
import { fitHistory } from "./fit-history.ts";
import { bytesOf, tokensOf } from "./history-length.ts";
import type { ThreadState } from "../thread-state.ts";

/** Maximum size of the history in a run's log: well below the largest message of the bus. */
const maxBytes = 512 * 1024;

/** The size of a part of the newest turn that alone exceeds the limit. */
const bytesPerToken = 3;

/**
 * Returns the conversation of a thread before the turn of `runId`: the newest turns that ended before it and fit in about
 * `maxTokens`, oldest first. A turn is included as a whole or not at all. Only if the newest turn alone exceeds the limit,
 * a part of it is included, so that the model knows the last question. `maxTokens` 0: nothing.
 */
export function windowHistory(
  { turns }: ThreadState,
  runId: string,
  maxTokens: number,
): readonly HistoryMessage[] {
  if (maxTokens <= 0) return [];
  const place = turns.findIndex((turn) => turn.runId === runId);
  const before = place === -1 ? turns : turns.slice(0, place);
  let tokens = 0;
  let bytes = 0;
  const shown: (readonly HistoryMessage[])[] = [];
  for (const { ended } of before.toReversed()) {
    if (ended === undefined || ended.messages.length === 0) continue;
    tokens += sumOf(ended.messages, tokensOf);
    bytes += sumOf(ended.messages, bytesOf);
    if (tokens > maxTokens || bytes > maxBytes) {
      const room = Math.min(maxTokens * bytesPerToken, maxBytes);
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
