import { jetstreamManager } from "@nats-io/jetstream";
import { ErrorReason } from "@reeve/contracts/error";
import { describe, expect, test } from "vitest";
import { openRunLog } from "../src/log/open.ts";
import { emptyTail } from "../src/log/port.ts";
import { appendEvents, followUntil, freshRun, range, texts, wordsOf } from "./support/facts.ts";
import { NatsBench } from "./support/nats-bench.ts";

const signal = new AbortController().signal;
/** The size of a history that takes many requests to read. */
const [batches, wordsPerBatch] = [1_500, 4];

describe("a log in JetStream", () => {
  test("has all events after its server was killed, and its followers continue", async () => {
    await using own = await NatsBench.open();
    const survivor = await openRunLog(await own.connect());
    const key = freshRun();
    const first = await appendEvents(survivor, key, emptyTail, texts(emptyTail, "a", "b"), signal);
    const ranges = survivor.follow(key, 0, signal)[Symbol.asyncIterator]();
    expect((await ranges.next()).value?.tail).toEqual(first);
    const next = ranges.next();
    await own.kill();
    const appending = survivor.append(key, first, texts(first, "c"), signal);
    await own.restart();
    expect((await appending).kind).toBe("appended");
    expect(wordsOf((await next).value?.events ?? [])).toEqual(["3 c"]);
    expect((await survivor.read(key, emptyTail, signal)).events).toHaveLength(3);
    await ranges.return?.();
  });

  test("reads a long history completely although its server is killed meanwhile", async () => {
    await using own = await NatsBench.open();
    const survivor = await openRunLog(await own.connect());
    const key = freshRun();
    let tail = emptyTail;
    const words = range(1, wordsPerBatch).map((index) => `w${index}`);
    for (let batch = 0; batch < batches; batch++) {
      tail = await appendEvents(survivor, key, tail, texts(tail, ...words), signal);
    }
    const reading = survivor.read(key, emptyTail, signal);
    const following = followUntil(survivor.follow(key, 0, signal), tail.sequence);
    // By then both are in progress: the server answers each of these requests after as many of theirs.
    for (let request = 0; request < 10; request++) await survivor.last(key, signal);
    await own.kill();
    await own.restart();
    for (const events of [(await reading).events, await following]) {
      expect(events.map(({ sequence }) => sequence)).toEqual(range(1, batches * wordsPerBatch));
    }
  });

  test("fails as unavailable when the store is down for long", async () => {
    await using own = await NatsBench.open();
    const lost = await openRunLog(await own.connect(), { maxRetryMs: 100 });
    await own.kill();
    await expect(
      lost.append(freshRun(), emptyTail, texts(emptyTail, "a"), signal),
    ).rejects.toMatchObject({ kind: "unavailable", reason: ErrorReason.UNAVAILABLE });
  });

  test("rejects appends, and keeps its events, when the store is full", async () => {
    await using own = await NatsBench.open();
    const { connection } = await own.connect();
    const small = await openRunLog({ connection });
    await (await jetstreamManager(connection)).streams.update("RUNS", { max_bytes: 2_000 });
    const key = freshRun();
    const tail = await appendEvents(
      small,
      key,
      emptyTail,
      texts(emptyTail, "a".repeat(1_000)),
      signal,
    );
    await expect(
      small.append(key, tail, texts(tail, "b".repeat(1_000)), signal),
    ).rejects.toMatchObject({ kind: "exhausted", reason: ErrorReason.STORAGE_FULL });
    expect((await small.read(key, emptyTail, signal)).tail).toEqual(tail);
  });
});
