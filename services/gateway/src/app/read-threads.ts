import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { Thread, ThreadMessage } from "@reeve/contracts/thread";
import { Failure } from "@reeve/platform/failure";
import type { Page, PageRequest } from "@reeve/store/page";
import { pageOf } from "@reeve/store/page";
import { readThread } from "@reeve/thread/commit-thread";
import { threadOf } from "@reeve/thread/thread-index";
import { threadMessages } from "@reeve/thread/thread-messages";
import type { ThreadState } from "@reeve/thread/thread-state";
import type { GatewayPorts } from "./gateway-ports.ts";

type Ports = Pick<GatewayPorts, "threads" | "threadIndex">;

/** The thread as it stands. Throws a Failure of kind `not_found` when no run was ever started on it. */
export async function getThread(
  { threads }: Ports,
  tenant: string,
  thread: string,
  signal: AbortSignal,
): Promise<Thread> {
  const key = { tenant, thread };
  return threadOf(key, existing(thread, await readThread(threads, key, signal)));
}

/** A page of the threads of a tenant, the one that changed last first. */
export async function listThreads(
  { threadIndex }: Ports,
  tenant: string,
  page: PageRequest,
  signal: AbortSignal,
): Promise<Page<Thread>> {
  const rows = await threadIndex.list(tenant, signal);
  const threads = rows
    .map(({ record }) => record)
    .filter(({ lastSequence }) => lastSequence > 0)
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1));
  return pageOf(threads, page, keyOf, (key, previous) => key < previous);
}

/** A page of what was said in a thread, oldest first. */
export async function listThreadMessages(
  { threads }: Ports,
  key: { readonly tenant: string; readonly thread: string },
  page: PageRequest,
  signal: AbortSignal,
): Promise<Page<ThreadMessage>> {
  const state = existing(key.thread, await readThread(threads, key, signal));
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

function existing(thread: string, state: ThreadState): ThreadState {
  if (state.sequence > 0) return state;
  throw new Failure(
    "not_found",
    ErrorReason.THREAD_NOT_FOUND,
    `there is no thread ${thread}; it comes to be with the first run that is started on it`,
    { metadata: { thread_id: thread } },
  );
}

function keyOf({ updatedAt, threadId }: Thread): string {
  const ms = updatedAt === undefined ? 0 : timestampMs(updatedAt);
  return `${String(ms).padStart(15, "0")}.${threadId}`;
}

function place(index: number): string {
  return String(index).padStart(10, "0");
}
