import { create, toBinary } from "@bufbuild/protobuf";
import type { ThreadHead, ThreadMessage } from "@reeve/contracts/thread";
import { ThreadMessageSchema, TurnEndedSchema } from "@reeve/contracts/thread";
import { historyLost } from "@reeve/jetstream/log/history-lost";
import type { EventRange, Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import type { Page, PageRequest } from "@reeve/jetstream/table/page";
import { invalidPageToken, maxPageBytes, pageSizeOf } from "@reeve/jetstream/table/page";
import type { ThreadEvent } from "@reeve/contracts/thread";
import { foldRun } from "@reeve/run/commands/fold-run";
import { partsOf, viewThread } from "@reeve/run/thread/read-thread";
import { noSuchThread } from "@reeve/run/thread/refusals";
import { activeTurn } from "@reeve/run/thread/thread-head";
import { turnMessages } from "@reeve/run/thread/thread-messages";
import { turnEnded } from "@reeve/run/thread/turn-ended";
import { endsRun } from "../event-selection.ts";
import type { GatewayPorts } from "../gateway-ports.ts";
import { treeWithoutMemories } from "../memories-of-others.ts";

/** Where a page starts: after a batch of the thread's log, and after some of the messages that follow it. */
interface Position {
  readonly tail: Tail;
  readonly skipped: number;
}

/** A message, and where the page after it starts. */
interface Positioned {
  readonly message: ThreadMessage;
  readonly next: Position;
}

/**
 * Returns a page of a thread's messages, oldest first. Reads only the part of the log that has them. A client that has seen
 * the end of a run finds the run's messages here, even in the moment before the run's turn ends in the thread.
 */
export async function listThreadMessages(
  { threads, log }: Pick<GatewayPorts, "threads" | "log">,
  key: ThreadKey,
  page: PageRequest,
  signal: AbortSignal,
): Promise<Page<ThreadMessage>> {
  const start = positionOf(page.pageToken);
  const { head, tail: end } = await viewThread(threads, key, signal);
  if (head.sequence === 0 || head.deleted) throw noSuchThread(key.thread);
  if (start.tail.sequence > end.sequence || start.tail.revision > end.revision) {
    throw historyLost(`thread ${key.thread}`, start.tail);
  }
  const size = pageSizeOf(page);
  const found: Positioned[] = [];
  const fitting = () => firstFitting(found.slice(start.skipped, start.skipped + size));
  const hasMore = () => fitting().length < found.length - start.skipped;
  let before = start.tail;
  const rest = { after: start.tail, maxBytes: maxPageBytes };
  for await (const part of partsOf(threads, key, rest, signal)) {
    found.push(...messagesIn(before, part, end));
    before = part.tail;
    if (hasMore()) break;
  }
  if (!hasMore()) found.push(...positioned(end, await endedMessages(log, key, head, signal)));
  const items = fitting();
  const next = hasMore() ? items.at(-1)?.next : undefined;
  return {
    items: items.map(({ message }) => withoutMemories(message)),
    nextPageToken: next === undefined ? "" : tokenOf(next),
  };
}

/** The runs of a thread may have several users, and a message does not say whose memories its tree shows. */
function withoutMemories(message: ThreadMessage): ThreadMessage {
  const { executionTree: tree } = message;
  return tree === undefined ? message : { ...message, executionTree: treeWithoutMemories(tree) };
}

/** Returns the messages of the turns that ended in a range that follows `start`, up to `end`. */
function messagesIn(
  start: Tail,
  { events, batchTails }: EventRange<ThreadEvent>,
  end: Tail,
): readonly Positioned[] {
  let before = start;
  return batchTails.flatMap((after) => {
    const tail = before;
    before = after;
    if (after.sequence > end.sequence) return [];
    const messages = events.flatMap(({ event, sequence, time }) =>
      event.case === "turnEnded" && sequence > tail.sequence && sequence <= after.sequence
        ? turnMessages(event.value, time)
        : [],
    );
    return positioned(tail, messages);
  });
}

function positioned(tail: Tail, messages: readonly ThreadMessage[]): readonly Positioned[] {
  return messages.map((message, index) => ({ message, next: { tail, skipped: index + 1 } }));
}

/** Returns the messages of a run that has ended and whose turn has not. */
async function endedMessages(
  log: RunLog,
  { tenant }: ThreadKey,
  head: ThreadHead,
  signal: AbortSignal,
): Promise<readonly ThreadMessage[]> {
  const runId = activeTurn(head)?.runId;
  if (runId === undefined) return [];
  const { events } = await log.read({ tenant, run: runId }, emptyTail, signal);
  const end = events.find(endsRun);
  if (end === undefined) return [];
  const ended = turnEnded(runId, events, await foldRun(events, signal));
  return turnMessages(create(TurnEndedSchema, ended), end.time);
}

/** Returns the first messages that fit into a page together, at least one. */
function firstFitting(found: readonly Positioned[]): readonly Positioned[] {
  let room = maxPageBytes;
  const end = found.findIndex(
    ({ message }) => (room -= toBinary(ThreadMessageSchema, message).length) < 0,
  );
  return end === -1 ? found : found.slice(0, Math.max(1, end));
}

const tokenPattern = /^t:(\d{1,10})\.(\d{1,15})\.([0-9a-f]*)\.(\d{1,9})$/;

function tokenOf({ tail: { sequence, revision, digest }, skipped }: Position): string {
  return Buffer.from(`t:${sequence}.${revision}.${digest}.${skipped}`).toString("base64url");
}

function positionOf(token: string): Position {
  if (token === "") return { tail: emptyTail, skipped: 0 };
  const text = Buffer.from(token, "base64url").toString();
  const [, sequence, revision, digest = "", skipped] = tokenPattern.exec(text) ?? [];
  if (sequence === undefined) throw invalidPageToken();
  const tail = { sequence: Number(sequence), revision: Number(revision), digest };
  return { tail, skipped: Number(skipped) };
}
