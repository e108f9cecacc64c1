import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Thread, ThreadMessage } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/log/log";
import type { ThreadKey } from "@reeve/log/thread-log";
import type { Page, PageRequest } from "@reeve/store/page";
import { pageOf } from "@reeve/store/page";
import { readThread } from "@reeve/thread/commit-thread";
import { noSuchThread } from "@reeve/thread/refusals";
import { threadMessages } from "@reeve/thread/thread-messages";
import { emptyRow, threadRow } from "@reeve/thread/thread-row";
import type { GatewayPorts } from "./gateway-ports.ts";

type Ports = Pick<GatewayPorts, "threads" | "threadIndex">;

/** The thread as it stands. Throws a Failure of kind `not_found` when there is none, or none any more. */
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

/** A page of the threads of a tenant, the one that changed last first. */
export async function listThreads(
  { threadIndex }: Pick<Ports, "threadIndex">,
  tenant: string,
  page: PageRequest,
  signal: AbortSignal,
): Promise<Page<Thread>> {
  const rows = await threadIndex.list(tenant, signal);
  const threads = rows
    .map(({ record }) => record)
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1));
  return pageOf(threads, page, keyOf, (key, previous) => key < previous);
}

/** A page of what was said in a thread, oldest first. */
export async function listThreadMessages(
  { threads }: Pick<Ports, "threads">,
  key: ThreadKey,
  page: PageRequest,
  signal: AbortSignal,
): Promise<Page<ThreadMessage>> {
  const state = await readThread(threads, key, signal);
  if (state.sequence === 0 || state.isDeleted) throw noSuchThread(key.thread);
  const numbered = threadMessages(state).map((message, index) => ({
    message,
    place: place(index),
  }));
  const { items, nextPageToken } = pageOf(
    numbered,
    page,
    (item) => item.place,
    (own, previous) => own > previous,
  );
  return { items: items.map(({ message }) => message), nextPageToken };
}

function keyOf({ updatedAt, threadId }: Thread): string {
  const ms = updatedAt === undefined ? 0 : timestampMs(updatedAt);
  return `${String(ms).padStart(15, "0")}.${threadId}`;
}

function place(index: number): string {
  return String(index).padStart(10, "0");
}
