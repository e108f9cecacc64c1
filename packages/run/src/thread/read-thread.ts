import type { ThreadEvent, ThreadHead } from "@reeve/contracts/thread";
import type { LogPart, Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { ThreadKey, ThreadLog } from "@reeve/jetstream/log/thread-log";
import { newerVersion } from "../head/newer-version.ts";
import type { ThreadView } from "./thread-head.ts";
import { emptyView, foldThread, headVersion } from "./thread-head.ts";

/** How much of the log of a thread is held in memory at a time while it is folded. */
const foldedBytes = 4 * 1024 * 1024;

/** Returns the current state of a thread, to decide on. Throws a Failure if an event of a newer version may have changed it. */
export async function readThread(
  threads: ThreadLog,
  key: ThreadKey,
  signal: AbortSignal,
): Promise<ThreadHead> {
  const { head } = await refreshThread(threads, key, undefined, signal);
  return head;
}

/** As `readThread`, with the tail. With `before`, reads only what follows it. */
export async function refreshThread(
  threads: ThreadLog,
  key: ThreadKey,
  before: ThreadView | undefined,
  signal: AbortSignal,
): Promise<ThreadView> {
  const view =
    before === undefined
      ? await viewThread(threads, key, signal)
      : foldThread(before, await threads.read(key, before.tail, signal));
  if (view.unknownSequence > 0) throw newerVersion(`thread ${key.thread}`, view.unknownSequence);
  return view;
}

/**
 * Returns the current state of a thread, to display. Reads its last batch; only if that has no head that this version knows,
 * folds the whole log.
 */
export async function viewThread(
  threads: ThreadLog,
  key: ThreadKey,
  signal: AbortSignal,
): Promise<ThreadView> {
  const { events, tail } = await threads.last(key, signal);
  if (events.length === 0) return emptyView;
  const head = headIn(events);
  return head === undefined
    ? await foldWhole(threads, key, signal)
    : { head, tail, unknownSequence: 0 };
}

/** Returns the head in a batch, if it has one that this version knows. */
export function headIn(events: readonly ThreadEvent[]): ThreadHead | undefined {
  const last = events.at(-1);
  const isKnown = last?.head?.version === headVersion && last.head.sequence === last.sequence;
  return isKnown ? last.head : undefined;
}

/** Returns the current state of a thread by its events alone. */
export async function foldWhole(
  threads: ThreadLog,
  key: ThreadKey,
  signal: AbortSignal,
): Promise<ThreadView> {
  let view = emptyView;
  const whole = { after: emptyTail, maxBytes: foldedBytes };
  for await (const part of partsOf(threads, key, whole, signal)) view = foldThread(view, part);
  return view;
}

/** Yields what follows a tail in the log of a thread, in parts of about `maxBytes`, up to the end. */
export async function* partsOf(
  threads: ThreadLog,
  key: ThreadKey,
  { after, maxBytes }: { readonly after: Tail; readonly maxBytes: number },
  signal: AbortSignal,
): AsyncIterable<LogPart<ThreadEvent>> {
  for (let reached = after; ;) {
    const part = await threads.readPart(key, reached, maxBytes, signal);
    yield part;
    if (part.isComplete || part.events.length === 0) return;
    reached = part.tail;
  }
}
