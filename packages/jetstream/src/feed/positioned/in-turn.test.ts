import { Notifier } from "@reeve/platform/async/coordination/notifier";
import { sleep } from "@reeve/platform/async/sleep";
import { expect, test } from "vitest";
import type { Feed, FeedBatch } from "../port.ts";
import { inTurn } from "./in-turn.ts";

/** A feed of numbers that continues where the last reader has ended. */
function numbers(): Feed<string, number> & { readers: number } {
  let next = 0;
  const feed = {
    readers: 0,
    async *consume(_consumer: string, _kinds: unknown, signal: AbortSignal) {
      feed.readers++;
      try {
        for (;;) {
          yield { key: "log", events: [next++], acknowledge: () => undefined };
          await sleep(0, signal);
        }
      } finally {
        feed.readers--;
      }
    },
  };
  return feed;
}

function turns(isTurn: boolean) {
  const changed = new Notifier();
  const state = { isTurn };
  const give = (now: boolean) => {
    state.isTurn = now;
    changed.notify();
  };
  return { changed, give, reads: (shard: number) => shard === 1 && state.isTurn };
}

const first = (batch: IteratorResult<FeedBatch<string, number>, unknown>) =>
  batch.done === true ? undefined : batch.value.events[0];

test("a feed is read while this process has its turn", async () => {
  const feed = numbers();
  const given = turns(false);
  const end = new AbortController();
  const consumed = inTurn(feed, 1, given).consume("reader", new Set(), end.signal);
  const batches = consumed[Symbol.asyncIterator]();
  const beginning = batches.next();
  expect(feed.readers).toBe(0);
  given.give(true);
  expect(first(await beginning)).toBe(0);
  given.give(false);
  const waiting = batches.next();
  await expect.poll(() => feed.readers, { interval: 1 }).toBe(0);
  given.give(true);
  expect(first(await waiting)).toBe(1);
  end.abort(new Error("ended"));
  await expect(batches.next()).rejects.toThrow("ended");
  expect(given.changed.size).toBe(0);
});

test("a reader that leaves listens to nothing more", async () => {
  const given = turns(true);
  const signal = new AbortController().signal;
  for await (const _ of inTurn(numbers(), 1, given).consume("reader", new Set(), signal)) break;
  await expect.poll(() => given.changed.size, { interval: 1 }).toBe(0);
});
