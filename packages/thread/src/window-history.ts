import type { HistoryMessage } from "@reeve/contracts/thread";
import { lengthOf } from "./history-length.ts";
import type { ThreadState } from "./thread-state.ts";

const bytesAToken = 4;
/** What the history in a run's own log may take: well below the largest message of the bus. */
const mostBytes = 512 * 1024;

/**
 * The conversation of a thread before the turn of `runId`: the turns that ended before it began, oldest first, as many of
 * the newest as come to about `mostTokens`. A turn is there as a whole, or not at all.
 */
export function windowHistory(
  { turns }: ThreadState,
  runId: string,
  mostTokens: number,
): readonly HistoryMessage[] {
  const place = turns.findIndex((turn) => turn.runId === runId);
  const before = place === -1 ? turns : turns.slice(0, place);
  let room = Math.min(mostTokens * bytesAToken, mostBytes);
  const shown: HistoryMessage[][] = [];
  for (const { ended } of before.toReversed()) {
    if (ended === undefined) continue;
    room -= ended.messages.reduce((sum, message) => sum + lengthOf(message), 0);
    if (room < 0) break;
    shown.push(ended.messages);
  }
  return shown.toReversed().flat();
}
