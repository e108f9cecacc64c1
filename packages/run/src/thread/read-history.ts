import { ErrorReason } from "@reeve/contracts/error";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { ThreadKey, ThreadLog } from "@reeve/jetstream/log/thread-log";
import { Failure } from "@reeve/platform/failure";
import { messagesWithoutFiles } from "../parts/without-files.ts";
import { refreshThread } from "./read-thread.ts";
import { openTurn } from "./thread-head.ts";
import { windowHistory } from "./history/window-history.ts";
import { withoutMemories } from "./history/without-memories.ts";

export interface HistoryOptions {
  readonly runId: string;
  readonly maxTokens: number;
  readonly except?: readonly string[];
  /** A run whose turn has ended: turns that ended before are not returned. Empty: none. */
  readonly after?: string;
}

/**
 * Returns the conversation of a thread before the open turn of `runId`, without the turns of the runs in `except` and without
 * what memory tools were given and returned, limited as by `windowHistory`. Turns before one whose content a provider refused have notes
 * instead of files, because one of these may be what it refused. Reads the newest turns only. Throws a Failure of kind `unavailable` when the thread is read without that turn.
 */
export async function readHistory(
  threads: ThreadLog,
  key: ThreadKey,
  { runId, maxTokens, except = [], after = "" }: HistoryOptions,
  signal: AbortSignal,
): Promise<readonly HistoryMessage[]> {
  const { head } = await refreshThread(threads, key, undefined, signal);
  // The turn is queued before its run exists. A read without it lacks the turns before it too.
  if (openTurn(head, runId) === undefined) throw withoutTurn(key, runId);
  const mark = head.marks[0];
  if (maxTokens <= 0 || mark?.before === undefined) return [];
  const { sequence, revision } = mark.before;
  const start = { ...emptyTail, sequence, revision: Number(revision) };
  const { events, tail } = await threads.read(key, start, signal);
  if (tail.sequence < head.sequence) throw withoutTurn(key, runId);
  // Turns start in order, so none after this one has ended before it.
  const ended = events.flatMap(({ event, sequence: at }) =>
    event.case === "turnEnded" && at <= head.sequence ? [event.value] : [],
  );
  const refused = ended.findLastIndex((turn) => turn.contentRefused);
  const shown = ended.map((turn, index) => ({
    runId: turn.runId,
    messages: index < refused ? messagesWithoutFiles(turn.messages) : turn.messages,
  }));
  // A turn that is not among the newest came before them.
  const first = ended.findLastIndex((turn) => turn.runId === after) + 1;
  const wanted = shown.slice(first).filter((turn) => !except.includes(turn.runId));
  // Earlier versions stored them.
  const clean = wanted.map(({ messages }) => ({ messages: [...withoutMemories(messages)] }));
  return windowHistory(clean, maxTokens);
}

function withoutTurn({ thread }: ThreadKey, runId: string): Failure {
  const message = `thread ${thread} was read without the turn of run ${runId}; try again in a few seconds`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
