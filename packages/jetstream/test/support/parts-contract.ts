import { expect, test } from "vitest";
import type { BatchReader, Log, PartReader } from "../../src/log/port.ts";
import { emptyTail, maxFollowedBytes } from "../../src/log/port.ts";
import type { LogKind } from "./facts.ts";
import { appendEvents } from "./facts.ts";

/** The contract of every adapter that reads logs in parts. */
export function partsContract<Key, Event extends { readonly sequence: number }>(
  where: string,
  { fresh, batch }: LogKind<Key, Event>,
  open: () => Log<Key, Event> & PartReader<Key, Event> & BatchReader<Key>,
): void {
  const signal = new AbortController().signal;

  test(`a log ${where} is read in parts of whole batches, each about as large as requested`, async () => {
    const log = open();
    const key = fresh();
    const word = "x".repeat(10_000);
    const tails = [emptyTail];
    for (let batches = 0; batches < 30; batches++) {
      const tail = tails.at(-1) ?? emptyTail;
      tails.push(await appendEvents(log, key, tail, batch(tail, word, word), signal));
    }
    const parts = [];
    for (let tail = emptyTail; ;) {
      const part = await log.readPart(key, tail, 50_000, signal);
      parts.push(part);
      ({ tail } = part);
      if (part.isComplete) break;
    }
    expect(parts.length).toBeGreaterThan(1);
    // Adapters may read a few batches at a time.
    expect(Math.max(...parts.map(({ events }) => events.length))).toBeLessThan(30);
    expect(parts.flatMap(({ batchTails }) => batchTails)).toEqual(tails.slice(1));
    const { events } = await log.read(key, emptyTail, signal);
    expect(parts.flatMap((part) => part.events)).toEqual(events);
    const end = tails.at(-1) ?? emptyTail;
    const rest = await log.readPart(key, end, 50_000, signal);
    expect(rest).toMatchObject({ events: [], tail: end, batchTails: [], isComplete: true });
  });

  test(`the stored batches of a long log ${where} are read in order, and each once`, async () => {
    const log = open();
    const key = fresh();
    const tails = [emptyTail];
    for (let batches = 0; batches < 40; batches++) {
      const tail = tails.at(-1) ?? emptyTail;
      tails.push(await appendEvents(log, key, tail, batch(tail, "a", "b"), signal));
    }
    const stored = await Array.fromAsync(log.readBatches(key, signal));
    expect(
      stored.map(({ last, revision, digest }) => ({ sequence: last, revision, digest })),
    ).toEqual(tails.slice(1));
    expect(await Array.fromAsync(log.readBatches(fresh(), signal))).toEqual([]);
  });

  test(`a follower of a log ${where} gets a long history in parts, and never holds more for its reader`, async () => {
    const log = open();
    const key = fresh();
    const word = "x".repeat(5_000);
    const tails = [emptyTail];
    for (let batches = 0; batches < 60; batches++) {
      const tail = tails.at(-1) ?? emptyTail;
      tails.push(await appendEvents(log, key, tail, batch(tail, word, word), signal));
    }
    const end = tails.at(-1) ?? emptyTail;
    const starts = [0, 7, tails[20] ?? emptyTail];
    for (const after of starts) {
      const ranges = [];
      for await (const range of log.follow(key, after, signal)) {
        ranges.push(range);
        if (range.tail.sequence >= end.sequence) break;
      }
      const from = typeof after === "number" ? after : after.sequence;
      const sequences = ranges.flatMap(({ events }) => events.map(({ sequence }) => sequence));
      const expected = Array.from({ length: end.sequence - from }, (_, index) => from + index + 1);
      expect(sequences).toEqual(expected);
      expect(ranges.map(({ tail }) => tail)).toEqual(
        ranges.map(({ batchTails }) => batchTails.at(-1)),
      );
      // The first range may begin inside a batch.
      const maxEvents = 2 * Math.ceil(maxFollowedBytes / 10_000) + 2;
      expect(Math.max(...ranges.map(({ events }) => events.length))).toBeLessThanOrEqual(maxEvents);
    }
  });
}
