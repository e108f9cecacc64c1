import { create } from "@bufbuild/protobuf";
import { anyPack, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { RunCreatedSchema } from "@reeve/contracts/run";
import type { Thread } from "@reeve/contracts/thread";
import { ThreadEventSchema, TurnOutcome } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/jetstream/log/port";
import { memoryThreadFeed } from "@reeve/jetstream/feed/memory";
import { memoryThreadLog } from "@reeve/jetstream/log/memory";
import type { ThreadFeedBatch, ThreadFeed } from "@reeve/jetstream/feed/thread-feed";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import type { ThreadFact } from "@reeve/run/thread/append-thread";
import { foldWhole } from "@reeve/run/thread/read-thread";
import { threadRow } from "@reeve/run/thread/thread-row";
import { expect, test } from "vitest";
import { indexThreads } from "./thread-index.ts";

const never = new AbortController().signal;
const logger = createLogger("test", "silent");
const key = { tenant: "acme", thread: "t1" };

const queued = (runId: string): ThreadFact => ({
  case: "turnQueued",
  value: {
    runId,
    runCreated: anyPack(RunCreatedSchema, create(RunCreatedSchema, { input: `ask ${runId}` })),
  },
});
const started = (runId: string): ThreadFact => ({ case: "turnStarted", value: { runId } });
const ended = (runId: string): ThreadFact => ({
  case: "turnEnded",
  value: { runId, outcome: TurnOutcome.COMPLETED },
});

/** A thread with these batches. */
async function threadOf(...batches: readonly (readonly ThreadFact[])[]) {
  const threads = memoryThreadLog();
  for (const facts of batches) {
    const { tail } = await threads.read(key, emptyTail, never);
    const events = facts.map((event, index) => {
      const sequence = tail.sequence + 1 + index;
      const time = timestampFromMs(1_000 * sequence);
      return create(ThreadEventSchema, { threadId: key.thread, sequence, time, event });
    });
    await threads.append(key, tail, events, never);
  }
  return threads;
}

const conversation = [
  [queued("a"), started("a")],
  [queued("b")],
  [queued("c")],
  [ended("c")],
  [ended("a")],
  [started("b")],
];

/** The index after the whole feed, in the order of `arrange`. */
async function indexed(
  threads: Awaited<ReturnType<typeof threadOf>>,
  arrange: (batches: readonly ThreadFeedBatch[]) => readonly ThreadFeedBatch[] = (as) => as,
): Promise<MemoryTable<Thread>> {
  const index = new MemoryTable<Thread>();
  const end = new AbortController();
  const batches: ThreadFeedBatch[] = [];
  const wanted = new Set(["turnQueued", "turnStarted", "turnEnded", "threadDeleted"] as const);
  for await (const batch of memoryThreadFeed(threads).consume("all", wanted, never)) {
    batches.push(batch);
    if (batches.length === threads.batches.length) break;
  }
  const feed: ThreadFeed = {
    async *consume() {
      yield* arrange(batches);
      end.abort();
    },
  };
  await indexThreads({ feed, threads, index }, logger, end.signal);
  return index;
}

const rowIn = async (index: MemoryTable<Thread>) => (await index.get("acme.t1", never))?.record;

test("the index agrees with the log of the thread", async () => {
  const threads = await threadOf(...conversation);
  const row = await rowIn(await indexed(threads));
  expect(row).toMatchObject({
    threadId: "t1",
    title: "ask a",
    activeRunId: "b",
    queuedRunIds: [],
    // The run that was cancelled while it waited had no turn.
    endedTurns: 1,
    lastSequence: 7,
    unsettled: true,
    createdAt: timestampFromMs(1_000),
    updatedAt: timestampFromMs(7_000),
  });
  const { head } = await foldWhole(threads, key, never);
  expect(row).toEqual(threadRow("t1", head));
});

test("batches in any order, and repeated ones, give the same index", async () => {
  const threads = await threadOf(...conversation);
  const inOrder = await rowIn(await indexed(threads));
  expect(await rowIn(await indexed(threads, (batches) => batches.toReversed()))).toEqual(inOrder);
  expect(await rowIn(await indexed(threads, (as) => [...as, ...as]))).toEqual(inOrder);
  expect(await rowIn(await indexed(threads, (as) => as.slice(3)))).toEqual(inOrder);
});

test("a deleted thread leaves the index, even when an old batch is repeated", async () => {
  const deleted: ThreadFact = { case: "threadDeleted", value: { deletedBy: "ann" } };
  const threads = await threadOf([queued("a"), started("a")], [ended("a")], [deleted]);
  const index = await indexed(threads, (batches) => [...batches, ...batches.slice(0, 2)]);
  expect(await rowIn(index)).toBeUndefined();
});
