import type { RunEventKind } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { emptyTail } from "../../src/log/port.ts";
import type { RunFeedBatch, RunFeed } from "../../src/feed/run-feed.ts";
import type { RunLog } from "../../src/log/run-log.ts";
import { appendEvents, eventsAfter, freshRun, text } from "./facts.ts";

const kinds: ReadonlySet<RunEventKind> = new Set(["runCreated", "status"] as const);

/** The contract of every adapter of a feed. `open` returns a new log and its feed. */
export function feedContract(
  where: string,
  open: () => Promise<{ readonly log: RunLog; readonly feed: RunFeed }>,
): void {
  describe(`a feed ${where}`, () => {
    const signal = new AbortController().signal;

    async function write(log: RunLog) {
      const key = freshRun();
      const created = { case: "runCreated", value: { tenant: key.tenant } } as const;
      const ended = { case: "status", value: { status: RunStatus.COMPLETED } } as const;
      let tail = await appendEvents(log, key, emptyTail, eventsAfter(0, created), signal);
      tail = await appendEvents(log, key, tail, eventsAfter(1, text("a"), text("b")), signal);
      await appendEvents(log, key, tail, eventsAfter(3, text("c"), ended), signal);
      return key;
    }

    test("yields the complete batches that have the requested kinds, in order, with their run", async () => {
      const { log, feed } = await open();
      const before = await write(log);
      const batches = take(feed, "reader", 4, signal);
      const after = await write(log);
      const received = (await batches).map(({ key, events }) => [
        key.run,
        ...events.map(({ event }) => event.case),
      ]);
      expect(received).toEqual([
        [before.run, "runCreated"],
        [before.run, "text", "status"],
        [after.run, "runCreated"],
        [after.run, "text", "status"],
      ]);
    });

    test("continues after the acknowledged batches, and delivers the others again", async () => {
      const { log, feed } = await open();
      const one = await write(log);
      for await (const first of feed.consume("reader", kinds, signal)) {
        first.acknowledge();
        break;
      }
      const other = await write(log);
      const rest = await take(feed, "reader", 3, signal);
      expect(rest.map(({ key }) => key.run).toSorted()).toEqual(
        [one.run, other.run, other.run].toSorted(),
      );
    });

    test("keeps a position for each reader", async () => {
      const { log, feed } = await open();
      await write(log);
      let left = 2;
      for await (const batch of feed.consume("one", kinds, signal)) {
        batch.acknowledge();
        if (--left === 0) break;
      }
      expect(await take(feed, "two", 2, signal)).toHaveLength(2);
    });

    test("ends with its signal's reason", async () => {
      const { feed } = await open();
      const stop = new AbortController();
      const waiting = take(feed, "reader", 1, stop.signal);
      stop.abort(new Error("enough"));
      await expect(waiting).rejects.toThrow("enough");
    });
  });
}

/** Returns the next batches, and acknowledges them: what is not acknowledged comes again while others are awaited. */
async function take(
  feed: RunFeed,
  consumer: string,
  count: number,
  signal: AbortSignal,
): Promise<RunFeedBatch[]> {
  const batches: RunFeedBatch[] = [];
  for await (const batch of feed.consume(consumer, kinds, signal)) {
    batch.acknowledge();
    if (batches.push(batch) === count) break;
  }
  return batches;
}
