import { clone, create, equals, toBinary } from "@bufbuild/protobuf";
import { anyPack, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import { RunCreatedSchema } from "@reeve/contracts/run";
import type { ThreadEvent } from "@reeve/contracts/thread";
import { ThreadEventSchema, ThreadHeadSchema, TurnEndedSchema } from "@reeve/contracts/thread";
import { memoryThreadLog } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import { beforeEach, describe, expect, test } from "vitest";
import { key, never, runCreated, withMethods } from "../../test/thread/support.ts";
import type { ThreadFact } from "./append-thread.ts";
import { appendThread } from "./append-thread.ts";
import { readHistory } from "./read-history.ts";
import { windowHistory } from "./history/window-history.ts";
import { foldWhole, readThread, refreshThread, viewThread } from "./read-thread.ts";
import { openTurn } from "./thread-head.ts";

let threads = memoryThreadLog();
beforeEach(() => {
  threads = memoryThreadLog();
});

const queued = (runId: string): ThreadFact => ({
  case: "turnQueued",
  value: { runId, runCreated: anyPack(RunCreatedSchema, runCreated(`ask ${runId}`)) },
});
const started = (runId: string): ThreadFact => ({ case: "turnStarted", value: { runId } });
const ended = (runId: string, ...texts: readonly string[]): ThreadFact => ({
  case: "turnEnded",
  value: {
    runId,
    messages: texts.map((text) => ({ message: { case: "user", value: { text } } })),
  },
});

/** Appends facts as a process of this version does. */
async function write(...facts: readonly ThreadFact[]): Promise<void> {
  const seen = await refreshThread(threads, key, undefined, never);
  await appendThread(threads, key, seen, () => facts, never);
}

/** Appends facts after changing the event that has the head. */
async function writeChanged(
  change: (last: ThreadEvent) => void,
  ...facts: readonly ThreadFact[]
): Promise<void> {
  const seen = await refreshThread(threads, key, undefined, never);
  const changed = withMethods(threads, {
    append: (at, tail, events, signal) => {
      const stored = events.map((event) => clone(ThreadEventSchema, event));
      const last = stored.at(-1);
      if (last !== undefined) change(last);
      return threads.append(at, tail, stored, signal);
    },
  });
  await appendThread(changed, key, seen, () => facts, never);
}

const withoutHead = (last: ThreadEvent): void => {
  delete last.head;
};

function asNewer(last: ThreadEvent): void {
  last.event = { case: undefined };
  if (last.head !== undefined) last.head.version = 2;
}

async function expectSameByEvents(): Promise<void> {
  const [view, folded] = [
    await viewThread(threads, key, never),
    await foldWhole(threads, key, never),
  ];
  expect(equals(ThreadHeadSchema, view.head, folded.head)).toBe(true);
  expect(view.tail).toEqual(folded.tail);
}

/** Writes `turns` turns, each with messages of about `bytes`. */
async function talk(turns: number, bytes: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    const runId = `run_${turn}`;
    await write(queued(runId), started(runId));
    await write(ended(runId, `${turn} ${"x".repeat(bytes)}`));
  }
}

async function headSize(): Promise<number> {
  return toBinary(ThreadHeadSchema, await readThread(threads, key, never)).length;
}

/** What a reader of all turns would show. */
async function historyByEvents(maxTokens: number) {
  const { events } = await threads.read(key, emptyTail, never);
  const turns = events.flatMap(({ event }) =>
    event.case === "turnEnded" ? [create(TurnEndedSchema, event.value)] : [],
  );
  return windowHistory(turns, maxTokens);
}

function eventAt(sequence: number, event: ThreadFact): ThreadEvent {
  return create(ThreadEventSchema, { sequence, time: timestampFromMs(1_000 * sequence), event });
}

describe("the head in a batch", () => {
  test("says the same as all events, after each batch", async () => {
    const batches = [
      [queued("a"), started("a")],
      [queued("b")],
      [queued("c")],
      [ended("c")],
      [ended("a", "one", "two")],
      [started("b")],
      [ended("b", "three")],
      [{ case: "threadDeleted", value: { deletedBy: "ann" } }],
    ] as const;
    for (const facts of batches) {
      await write(...facts);
      await expectSameByEvents();
    }
    expect(await readThread(threads, key, never)).toMatchObject({
      sequence: 9,
      deleted: true,
      title: "ask a",
      endedTurns: 2,
      openTurns: [],
    });
  });

  test("that is missing, because an older version wrote the batch, is replaced by all events", async () => {
    await write(queued("a"), started("a"));
    await writeChanged(withoutHead, ended("a", "one"));
    await expectSameByEvents();
    expect(await readThread(threads, key, never)).toMatchObject({ openTurns: [], endedTurns: 1 });
    await write(queued("b"), started("b"));
    await expectSameByEvents();
  });

  test.each([
    ["of other rules", (last: ThreadEvent) => Object.assign(last.head ?? {}, { version: 2 })],
    ["of another event", (last: ThreadEvent) => Object.assign(last.head ?? {}, { sequence: 1 })],
  ])("%s is ignored", async (_, change) => {
    await write(queued("a"), started("a"));
    const wrong = (last: ThreadEvent) => {
      if (last.head !== undefined) last.head.deleted = true;
      change(last);
    };
    await writeChanged(wrong, ended("a", "one"));
    expect(await readThread(threads, key, never)).toMatchObject({ deleted: false, endedTurns: 1 });
  });

  test("does not hide an event of a newer version", async () => {
    await write(queued("a"), started("a"));
    await writeChanged(asNewer, started("a"));
    await expect(readThread(threads, key, never)).rejects.toMatchObject({
      reason: ErrorReason.NEWER_VERSION,
    });
    expect((await viewThread(threads, key, never)).head).toMatchObject({
      sequence: 3,
      title: "ask a",
    });
  });

  test("does not grow with the turns that have ended", async () => {
    await talk(60, 20_000);
    const before = await headSize();
    await talk(60, 20_000);
    expect(await headSize()).toBeLessThan(before + 100);
    expect(before).toBeLessThan(1_000);
  });
});

describe("the history of a run", () => {
  test.each([
    ["a few small turns", 5, 100],
    ["many small turns", 700, 900],
    ["turns that are larger than the distance of marks", 60, 20_000],
    ["turns of which three exceed the largest history", 8, 200_000],
  ])("of %s is that of the whole log", async (_, turns, bytes) => {
    await talk(turns, bytes);
    await write(queued("own"), started("own"));
    for (const maxTokens of [0, 1, 5_000, 128_000, 10_000_000]) {
      const history = await readHistory(threads, key, { runId: "own", maxTokens }, never);
      expect(history).toEqual(await historyByEvents(maxTokens));
    }
  });

  test("has notes instead of files before a turn that was refused for its content, also without that turn", async () => {
    const file = {
      part: { case: "file" as const, value: { name: "p.png", mediaType: "image/png" } },
    };
    const withFile = (runId: string, contentRefused: boolean): ThreadFact => ({
      case: "turnEnded",
      value: {
        runId,
        contentRefused,
        messages: [{ message: { case: "user", value: { text: runId, parts: [file] } } }],
      },
    });
    for (const [run, isRefused] of [
      ["a", false],
      ["b", true],
      ["c", false],
    ] as const) {
      await write(queued(run), started(run), withFile(run, isRefused));
    }
    await write(queued("own"), started("own"));
    const options = { runId: "own", maxTokens: 10_000, except: ["b"] };
    const history = await readHistory(threads, key, options, never);
    expect(history.map(({ message }) => message.value)).toMatchObject([
      { text: "a", parts: [{ part: { case: "text" } }] },
      { text: "c", parts: [{ part: { case: "file" } }] },
    ]);
  });

  test("begins after the turn of a run, if that is among the newest", async () => {
    for (const run of ["a", "b", "c"]) await write(queued(run), started(run), ended(run, run));
    await write(queued("own"), started("own"));
    for (const [after, count] of [
      ["", 3],
      ["a", 2],
      ["c", 0],
      ["long ago", 3],
    ] as const) {
      const options = { runId: "own", maxTokens: 1_000, after };
      expect(await readHistory(threads, key, options, never)).toHaveLength(count);
      const others = { ...options, except: ["a", "b", "c"] };
      expect(await readHistory(threads, key, others, never)).toEqual([]);
    }
  });

  test("reads the same bytes whether there are ten turns before it or a hundred", async () => {
    let bytes = 0;
    const counted = withMethods(threads, {
      read: async (...args) => {
        const range = await threads.read(...args);
        for (const event of range.events) bytes += toBinary(ThreadEventSchema, event).length;
        return range;
      },
    });
    const cost = async (runId: string) => {
      bytes = 0;
      await write(queued(runId), started(runId));
      await readHistory(counted, key, { runId, maxTokens: 128_000 }, never);
      await write(ended(runId, "answer"));
      return bytes;
    };
    await talk(10, 200_000);
    const first = await cost("first");
    await talk(90, 200_000);
    expect(await cost("last")).toBeLessThan(first * 1.05);
    expect(first).toBeLessThan(1_000_000);
  });

  test("that is read without its turn is not available", async () => {
    await talk(1, 10);
    const reading = readHistory(threads, key, { runId: "own", maxTokens: 1_000 }, never);
    await expect(reading).rejects.toMatchObject({ kind: "unavailable" });
    expect(openTurn(await readThread(threads, key, never), "own")).toBeUndefined();
  });
});

test("the times of a head are those of its events", async () => {
  await threads.append(key, emptyTail, [eventAt(1, queued("a")), eventAt(2, started("a"))], never);
  expect(await readThread(threads, key, never)).toMatchObject({
    createdAt: timestampFromMs(1_000),
    updatedAt: timestampFromMs(2_000),
    openTurns: [{ runId: "a", queuedAt: timestampFromMs(1_000), started: true }],
  });
});
