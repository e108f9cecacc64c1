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

/** Acknowledges batches until those of all `wanted` runs have come. Returns the runs of all that came. */
export async function takeUntil(
  feed: RunFeed,
  reader: string,
  ...wanted: readonly string[]
): Promise<ReadonlySet<string>> {
  const runs = new Set<string>();
  for await (const batch of feed.consume(reader, kinds, signal)) {
    batch.acknowledge();
    runs.add(batch.key.run);
    if (wanted.every((run) => runs.has(run))) break;
  }
  return runs;
}

/** The contract of feeds of which some batches cannot be read. */
export function unreadableFeedContract(where: string, open: () => Promise<KeyedFeed>): void {
  describe(`a feed ${where} while the key of a tenant is not available`, () => {
    test("yields the batches of others, and these when the key is available again", async () => {
      const { log, feed, lock, unlock } = await open();
      const waiting = [await startRun(log, "locked"), await startRun(log, "locked")] as const;
      const other = await startRun(log, "other");
      lock("locked");
      expect(await takeUntil(feed, "reader", other)).toEqual(new Set([other]));
      const later = await startRun(log, "other");
      expect(await takeUntil(feed, "reader", later)).not.toContain(waiting[0]);
      unlock("locked");
      expect(await takeUntil(feed, "reader", ...waiting)).toContain(waiting[1]);
    });
  });
}
