import { create, toBinary } from "@bufbuild/protobuf";
import type { Thread, ThreadMessage } from "@reeve/contracts/thread";
import { ThreadMessageSchema, TurnEndedSchema } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import type { Page, PageRequest } from "@reeve/jetstream/table/page";
import { pageOf } from "@reeve/jetstream/table/page";
import { readThread } from "@reeve/run/thread/append-thread";
import { noSuchThread } from "@reeve/run/thread/refusals";
import { threadMessages } from "@reeve/run/thread/thread-messages";
import { emptyRow, threadRow } from "@reeve/run/thread/thread-row";
import type { ThreadState } from "@reeve/run/thread/thread-state";
import { activeTurn } from "@reeve/run/thread/thread-state";
import { turnEnded } from "@reeve/run/thread/turn-ended";
import { endsRun } from "./event-selection.ts";
import type { GatewayPorts } from "./gateway-ports.ts";

type Ports = Pick<GatewayPorts, "threads" | "log">;

/** Reads the current state of a thread. Throws a Failure of kind `not_found` if it does not exist or is deleted. */
export async function getThread(
  { threads }: Pick<Ports, "threads">,
  key: ThreadKey,
  signal: AbortSignal,
): Promise<Thread> {
  const { events } = await threads.read(key, emptyTail, signal);
  const row = threadRow(emptyRow(key.thread), events);
  if (row === undefined || row.lastSequence === 0) throw noSuchThread(key.thread);
  return row;
}

/**
 * Returns a page of a thread's messages, oldest first. A client that has seen the end of a run finds the run's messages here,
 * even in the moment before the run's turn ends in the thread.
 */
export async function listThreadMessages(
  { threads, log }: Pick<Ports, "threads" | "log">,
  key: ThreadKey,
  page: PageRequest,
  signal: AbortSignal,
): Promise<Page<ThreadMessage>> {
  const state = await withEndedRun(log, key, await readThread(threads, key, signal), signal);
  if (state.sequence === 0 || state.isDeleted) throw noSuchThread(key.thread);
  const numbered = threadMessages(state).map((message, index) => ({
    message,
    position: positionOf(index),
  }));
  const { items, nextPageToken } = pageOf(
    numbered,
    page,
    (item) => item.position,
    (own, previous) => own > previous,
    ({ message }) => toBinary(ThreadMessageSchema, message).length,
  );
  return { items: items.map(({ message }) => message), nextPageToken };
}

/** Returns the state of the thread with the turn of a run that has ended also ended. */
async function withEndedRun(
  log: RunLog,
  { tenant }: ThreadKey,
  state: ThreadState,
  signal: AbortSignal,
): Promise<ThreadState> {
  const active = activeTurn(state);
  if (active === undefined) return state;
  const { runId } = active;
  const { events } = await log.read({ tenant, run: runId }, emptyTail, signal);
  const end = events.find(endsRun);
  if (end === undefined) return state;
  const ended = create(TurnEndedSchema, turnEnded(runId, events));
  const turns = state.turns.map((turn) =>
    turn === active ? { ...turn, ended, endedAt: end.time } : turn,
  );
  return { ...state, turns };
}

function positionOf(index: number): string {
  return String(index).padStart(10, "0");
}
