import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRunLog } from "../src/log/open.ts";
import { emptyTail } from "../src/log/port.ts";
import { appendEvents, freshRun, texts } from "./support/facts.ts";
import { NatsBench } from "./support/nats-bench.ts";

const signal = new AbortController().signal;
let bench: NatsBench;

beforeAll(async () => {
  bench = await NatsBench.open();
});

afterAll(() => bench[Symbol.asyncDispose]());

/** Opens the logs over a connection of their own, and counts what they send to the store. */
async function openCounted(options: Parameters<typeof openRunLog>[1] = {}) {
  const nats = await bench.connect();
  const log = await openRunLog(nats, options);
  const sent = () => nats.connection.stats().outMsgs;
  return {
    log,
    /** Reads a log, and returns its words and how many requests that took. */
    async read(key: ReturnType<typeof freshRun>) {
      const before = sent();
      const { events } = await log.read(key, emptyTail, signal);
      const words = events.map(({ event }) => (event.case === "text" ? event.value.text : "?"));
      return { words: words.join(""), requests: sent() - before };
    },
  };
}

type Counted = Awaited<ReturnType<typeof openCounted>>;

/** Appends a batch with a word at the end of a log. */
async function append({ log }: Counted, key: ReturnType<typeof freshRun>, word: string) {
  const { tail } = await log.read(key, emptyTail, signal);
  await appendEvents(log, key, tail, texts(tail, word), signal);
}

describe("the requests for a whole log of another writer", () => {
  // The last batch first, and then from both ends at once.
  test.each([
    ["", 1, 2],
    ["a", 1, 2],
    ["ab", 3, 2],
    ["abc", 3, 4],
    ["abcd", 5, 4],
  ])("with the batches %j are %d, and %d when it is read ahead", async (words, usual, ahead) => {
    const writer = await openCounted();
    const key = freshRun();
    for (const word of words) await append(writer, key, word);
    expect(await (await openCounted()).read(key)).toEqual({ words, requests: usual });
    const readingAhead = await openCounted({ readsAhead: true });
    expect(await readingAhead.read(key)).toEqual({ words, requests: ahead });
  });
});

test("a process that read the first batch of a log, and appended others, reads only the last one", async () => {
  const [creator, worker, decider] = [
    await openCounted(),
    await openCounted(),
    await openCounted(),
  ];
  const key = freshRun();
  await append(creator, key, "a");
  await append(worker, key, "b");
  await append(worker, key, "c");
  await append(decider, key, "d");
  expect(await worker.read(key)).toEqual({ words: "abcd", requests: 1 });
  expect((await decider.read(key)).words).toBe("abcd");
});

test("a log of any length, and one that was removed and begun anew, is read ahead as it is", async () => {
  const [writer, reader] = [await openCounted(), await openCounted({ readsAhead: true })];
  const key = freshRun();
  const words = "abcdefghijklmnopqrstuvwxyz";
  for (const [index, word] of Array.from(words).entries()) {
    await append(writer, key, word);
    expect((await reader.read(key)).words).toBe(words.slice(0, index + 1));
  }
  await writer.log.remove(key, signal);
  expect((await reader.read(key)).words).toBe("");
  await append(writer, key, "z");
  expect((await reader.read(key)).words).toBe("z");
  await append(writer, key, "y");
  expect((await reader.read(key)).words).toBe("zy");
});
