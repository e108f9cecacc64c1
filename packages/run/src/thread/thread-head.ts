import { clone, create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { RunCreatedSchema } from "@reeve/contracts/run";
import type {
  LogPosition,
  OpenTurn,
  ThreadEvent,
  ThreadHead,
  TurnQueued,
} from "@reeve/contracts/thread";
import {
  HistoryMarkSchema,
  LogPositionSchema,
  OpenTurnSchema,
  ThreadHeadSchema,
} from "@reeve/contracts/thread";
import type { EventRange, Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import { previewOf } from "../tree/preview-of.ts";
import { bytesOf } from "./history/history-length.ts";
import { maxHistoryBytes } from "./history/window-history.ts";

/**
 * The version of the rules of this fold. A new kind of event, or a change of what a head says, raises it: processes of other
 * versions then fold the events instead.
 */
export const headVersion = 1;

/** The size of the messages between two marks. */
const markBytes = 16 * 1024;
const titleCharacters = 200;

/** The state of a thread at the tail of its log up to which it is folded. */
export interface ThreadView {
  readonly head: ThreadHead;
  readonly tail: Tail;
  /** Sequence of the first event that only a newer version knows; 0: there is none. */
  readonly unknownSequence: number;
}

/** The view of a thread that does not exist. */
export const emptyView: ThreadView = {
  head: create(ThreadHeadSchema, { version: headVersion }),
  tail: emptyTail,
  unknownSequence: 0,
};

/** Returns the view after a range that follows it. An event that only a newer version knows changes no more than the sequence. */
export function foldThread(
  before: ThreadView,
  { events, tail, batchTails }: EventRange<ThreadEvent>,
): ThreadView {
  if (events.length === 0) return { ...before, tail };
  const head = clone(ThreadHeadSchema, before.head);
  let { unknownSequence } = before;
  let start = before.tail;
  const ends = batchTails.values();
  let end = ends.next().value ?? tail;
  for (const event of events) {
    if (event.sequence > end.sequence) {
      start = end;
      end = ends.next().value ?? tail;
    }
    apply(head, event, start);
    if (event.event.case === undefined && unknownSequence === 0) unknownSequence = event.sequence;
  }
  return { head, tail, unknownSequence };
}

/** Returns the head after events that are about to be appended after `before`. */
export function headAfter(before: ThreadView, events: readonly ThreadEvent[]): ThreadHead {
  const head = clone(ThreadHeadSchema, before.head);
  for (const event of events) apply(head, event, before.tail);
  return head;
}

/** Changes `head` by an event of the batch after `start`. */
function apply(head: ThreadHead, { event, time, sequence }: ThreadEvent, start: Tail): void {
  head.sequence = sequence;
  if (time !== undefined) head.updatedAt = time;
  switch (event.case) {
    case "turnQueued":
      queue(head, event.value, time, positionOf(start));
      break;
    case "turnStarted":
      for (const turn of head.openTurns) turn.started ||= turn.runId === event.value.runId;
      break;
    case "turnEnded": {
      const { runId, messages } = event.value;
      const turn = openTurn(head, runId);
      if (turn === undefined) break;
      head.openTurns = head.openTurns.filter((open) => open !== turn);
      if (!turn.started) break;
      head.endedTurns += 1;
      const bytes = messages.reduce((sum, message) => sum + bytesOf(message), 0);
      addHistory(head, bytes, positionOf(start));
      break;
    }
    case "threadDeleted":
      head.deleted = true;
      break;
    case undefined:
      break;
  }
}

function queue(
  head: ThreadHead,
  { runId, runCreated, interrupts }: TurnQueued,
  time: Timestamp | undefined,
  before: LogPosition,
): void {
  const created = runCreated && anyUnpack(runCreated, RunCreatedSchema);
  if (head.createdAt === undefined) head.title = previewOf(created?.input ?? "", titleCharacters);
  if (time !== undefined) head.createdAt ??= time;
  const requestHash = created?.requestHash ?? new Uint8Array();
  const queuedAt = time && { queuedAt: time };
  head.openTurns.push(
    create(OpenTurnSchema, { runId, requestHash, interrupts, before, ...queuedAt }),
  );
}

function addHistory(head: ThreadHead, bytes: number, before: LogPosition): void {
  if (bytes === 0) return;
  const bytesBefore = head.historyBytes;
  const last = head.marks.at(-1);
  if (last === undefined || bytesBefore - last.bytesBefore >= markBytes) {
    head.marks.push(create(HistoryMarkSchema, { before, bytesBefore }));
  }
  head.historyBytes += BigInt(bytes);
  const first = head.marks.findLastIndex((mark) => reachesBack(head, mark));
  if (first > 0) head.marks = head.marks.slice(first);
}

/** Whether the messages after a mark are all that a history can contain. */
function reachesBack(head: ThreadHead, { bytesBefore }: { readonly bytesBefore: bigint }): boolean {
  return head.historyBytes - bytesBefore > maxHistoryBytes;
}

function positionOf({ sequence, revision }: Tail): LogPosition {
  return create(LogPositionSchema, { sequence, revision: BigInt(revision) });
}

/** Returns the turn in progress. */
export function activeTurn({ openTurns }: ThreadHead): OpenTurn | undefined {
  return openTurns.find(({ started }) => started);
}

/** Returns the waiting turns in order. */
export function waitingTurns({ openTurns }: ThreadHead): readonly OpenTurn[] {
  return openTurns.filter(({ started }) => !started);
}

/** Returns the last open turn that cancels all open turns before it. */
export function interruptingTurn({ openTurns }: ThreadHead): OpenTurn | undefined {
  return openTurns.findLast(({ interrupts }) => interrupts);
}

/** Returns the turn of a run, unless it has ended. */
export function openTurn({ openTurns }: ThreadHead, runId: string): OpenTurn | undefined {
  return openTurns.find((turn) => turn.runId === runId);
}
