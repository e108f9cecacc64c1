import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Projection } from "@reeve/contracts/projection";
import type { Run } from "@reeve/contracts/run";
import { RunSchema, RunStatus } from "@reeve/contracts/run";
import type { ArchiveOutcome } from "@reeve/jetstream/log/archive-port";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { HastyClock, ManualClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import { ArchivableRuns } from "./archivable-runs.ts";
import { archiveRuns } from "./archive-runs.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const dayMs = 86_400_000;
const now = Date.parse("2026-06-01T12:00:00Z");

/** Returns rows of runs that ended some days ago; null: not yet. */
async function rowsOf(ages: Readonly<Record<string, number | null>>): Promise<MemoryTable<Run>> {
  const runs = new MemoryTable<Run>();
  for (const [runId, days] of Object.entries(ages)) {
    const status = days === null ? RunStatus.WAITING : RunStatus.COMPLETED;
    const ended = days === null ? {} : { endedAt: timestampFromMs(now - days * dayMs) };
    await runs.put(`acme.${runId}`, create(RunSchema, { runId, status, ...ended }), never);
  }
  return runs;
}

test("the runs that ended before a time are found, oldest first, and those that are done only once", async () => {
  const runs = await rowsOf({ a: 31, b: 40, c: 29, d: null, e: 50 });
  const found = new ArchivableRuns({ runs, clock: new HastyClock(now) }, 30 * dayMs);
  const search = async (outcomes: Readonly<Record<string, ArchiveOutcome>>) => {
    const names: string[] = [];
    for await (const { key } of found.ends(never)) {
      names.push(key.run);
      found.settle(key, outcomes[key.run] ?? "archived");
    }
    return names;
  };
  expect(await search({ b: "closed" })).toEqual(["e", "b", "a"]);
  expect(await search({})).toEqual(["b", "a"]);
  expect(await search({})).toEqual([]);
});

test("of two gateways, one archives the old runs, and another search completes what it closed", async () => {
  const runs = await rowsOf({ a: 31, b: 40, c: 29 });
  const visits: string[] = [];
  const archiver = {
    archive: async ({ run }: { readonly run: string }): Promise<ArchiveOutcome> => {
      visits.push(run);
      return visits.filter((each) => each === run).length === 1 ? "closed" : "archived";
    },
  };
  const clock = new ManualClock(now);
  const states = new MemoryTable<Projection>();
  const end = new AbortController();
  const ports = { runs, states, archiver, eraseOrphans: () => Promise.resolve(0) };
  const gateways = ["one", "two"].map((process) =>
    archiveRuns(ports, 30 * dayMs, { process, clock, log }, end.signal).catch(() => undefined),
  );
  while (visits.length < 4) await clock.advance(60_000);
  end.abort();
  await Promise.all(gateways);
  expect(visits.toSorted()).toEqual(["a", "a", "b", "b"]);
});
