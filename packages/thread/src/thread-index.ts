import { clone, create } from "@bufbuild/protobuf";
import { anyUnpack, timestampNow } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import { previewOf } from "@reeve/contracts/execution-tree";
import { RunCreatedSchema } from "@reeve/contracts/run";
import type { Thread } from "@reeve/contracts/thread";
import { ThreadSchema } from "@reeve/contracts/thread";
import type { ThreadKey } from "@reeve/log/thread-log";
import type { Table } from "@reeve/store/table";
import type { ThreadState } from "./thread-state.ts";
import { activeTurn, waitingTurns } from "./thread-state.ts";

const { key: indexKey } = bucketOf(ThreadSchema);
const mostAttempts = 10;
const titleCharacters = 200;

/** The thread as clients see it. */
export function threadOf({ thread }: ThreadKey, state: ThreadState): Thread {
  const [first] = state.turns;
  const last = state.turns.at(-1);
  const asked = first?.queued.runCreated && anyUnpack(first.queued.runCreated, RunCreatedSchema);
  const updatedAt = state.turns.findLast(({ endedAt }) => endedAt)?.endedAt ?? last?.queuedAt;
  return create(ThreadSchema, {
    threadId: thread,
    title: previewOf(asked?.input ?? "", titleCharacters),
    activeRunId: activeTurn(state)?.runId ?? "",
    queuedRunIds: waitingTurns(state).map(({ runId }) => runId),
    endedTurns: state.turns.filter(({ ended }) => ended !== undefined).length,
    lastSequence: state.sequence,
    ...(first?.queuedAt && { createdAt: first.queuedAt }),
    ...(updatedAt && { updatedAt }),
  });
}

/** Says that something is begun in a thread, so that it is looked after if whoever began it dies. */
export async function announceThread(
  index: Table<Thread>,
  key: ThreadKey,
  signal: AbortSignal,
): Promise<void> {
  const name = indexKey({ tenant: key.tenant, thread: key.thread });
  await amend(index, name, signal, (before) => {
    const thread = before === undefined ? create(ThreadSchema) : clone(ThreadSchema, before);
    thread.threadId = key.thread;
    thread.updatedAt = timestampNow();
    thread.unsettled = true;
    return thread;
  });
}

/** Brings the index to a state of the thread, unless it knows a later one. */
export async function recordThread(
  index: Table<Thread>,
  key: ThreadKey,
  state: ThreadState,
  signal: AbortSignal,
): Promise<void> {
  const name = indexKey({ tenant: key.tenant, thread: key.thread });
  await amend(index, name, signal, (before) =>
    before !== undefined && before.lastSequence > state.sequence ? undefined : threadOf(key, state),
  );
}

async function amend(
  index: Table<Thread>,
  name: string,
  signal: AbortSignal,
  change: (before: Thread | undefined) => Thread | undefined,
): Promise<void> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const row = await index.get(name, signal);
    const after = change(row?.record);
    if (after === undefined) return;
    const written =
      row === undefined
        ? await index.create(name, after, signal)
        : await index.update(name, after, row.revision, signal);
    if (written !== undefined) return;
  }
}
