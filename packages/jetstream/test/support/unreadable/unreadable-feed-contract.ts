import type { RunEventKind } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import type { RunFeed } from "../../../src/feed/run-feed.ts";
import { emptyTail } from "../../../src/log/port.ts";
import type { RunLog } from "../../../src/log/run-log.ts";
import { appendEvents, eventsAfter, freshRun } from "../facts.ts";

const kinds: ReadonlySet<RunEventKind> = new Set(["runCreated"] as const);
const signal = new AbortController().signal;

/** A log and its feed, with keys of tenants that come and go. */
export interface KeyedFeed {
  readonly log: RunLog;
  readonly feed: RunFeed;
  lock(tenant: string): void;
  unlock(tenant: string): void;
}

/** Starts a run of a tenant. Returns its id. */
export async function startRun(log: RunLog, tenant: string): Promise<string> {
  const key = { ...freshRun(), tenant };
  const created = { case: "runCreated", value: { tenant } } as const;
  await appendEvents(log, key, emptyTail, eventsAfter(0, created), signal);
  return key.run;
}

/** Returns the runs of the next batches, and acknowledges them. */
export async function takeRuns(feed: RunFeed, reader: string, count: number): Promise<string[]> {
  const runs: string[] = [];
  for await (const batch of feed.consume(reader, kinds, signal)) {
    batch.acknowledge();
    runs.push(batch.key.run);
    if (runs.length === count) break;
  }
  return runs;
}

/** The contract of feeds of which some batches cannot be read. */
export function unreadableFeedContract(where: string, open: () => Promise<KeyedFeed>): void {
  describe(`a feed ${where} while the key of a tenant is not available`, () => {
    test("yields the batches of others, and these when the key is available again", async () => {
      const { log, feed, lock, unlock } = await open();
      const waiting = [await startRun(log, "locked"), await startRun(log, "locked")];
      const other = await startRun(log, "other");
      lock("locked");
      expect(await takeRuns(feed, "reader", 1)).toEqual([other]);
      const later = await startRun(log, "other");
      expect(await takeRuns(feed, "reader", 1)).toEqual([later]);
      unlock("locked");
      expect((await takeRuns(feed, "reader", 2)).toSorted()).toEqual(waiting.toSorted());
    });
  });
}
