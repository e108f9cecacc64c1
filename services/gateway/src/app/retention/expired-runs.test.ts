import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Run } from "@reeve/contracts/run";
import { RunSchema, RunStatus } from "@reeve/contracts/run";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { HastyClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import type { RetentionPolicy } from "./expired-runs.ts";
import { expiredRuns } from "./expired-runs.ts";

const never = new AbortController().signal;
const dayMs = 86_400_000;
const now = Date.parse("2026-06-01T12:00:00Z");
const all: RetentionPolicy = { maxAgeMs: undefined, maxRuns: undefined };

/** Returns an index with runs that ended some days ago; null: not yet. */
async function indexOf(ages: Readonly<Record<string, number | null>>) {
  const runs = new MemoryTable<Run>();
  for (const [key, days] of Object.entries(ages)) {
    const [, runId = ""] = key.split(".");
    const status = days === null ? RunStatus.WAITING : RunStatus.COMPLETED;
    const ended = days === null ? {} : { endedAt: timestampFromMs(now - days * dayMs) };
    await runs.put(key, create(RunSchema, { runId, status, ...ended }), never);
  }
  return runs;
}

async function expired(runs: MemoryTable<Run>, policy: Partial<RetentionPolicy>) {
  const clock = new HastyClock(now);
  const found: string[] = [];
  for await (const { key } of expiredRuns({ runs, clock }, { ...all, ...policy }).ends(never)) {
    found.push(`${key.tenant}.${key.run}`);
  }
  return found.toSorted();
}

test("every run is kept without a policy", async () => {
  expect(await expired(await indexOf({ "acme.a": 10_000 }), {})).toEqual([]);
});

test("runs expire a time after their end, and never before it", async () => {
  const runs = await indexOf({ "acme.a": 31, "acme.b": 29, "acme.c": null, "globex.d": 31 });
  expect(await expired(runs, { maxAgeMs: 30 * dayMs })).toEqual(["acme.a", "globex.d"]);
});

test("of each tenant, the runs that ended last are kept", async () => {
  const runs = await indexOf({
    "acme.a": 1,
    "acme.b": 3,
    "acme.c": 2,
    "acme.d": null,
    "globex.e": 9,
    "globex.f": 8,
  });
  expect(await expired(runs, { maxRuns: 2 })).toEqual(["acme.b"]);
  expect(await expired(runs, { maxRuns: 1 })).toEqual(["acme.b", "acme.c", "globex.e"]);
});

test("a run that has just ended is kept, however many there are", async () => {
  const hour = 1 / 24;
  const runs = await indexOf({ "acme.a": hour / 2, "acme.b": hour / 3, "acme.c": 2 * hour });
  expect(await expired(runs, { maxRuns: 1 })).toEqual(["acme.c"]);
});

test("both limits apply", async () => {
  const runs = await indexOf({ "acme.a": 1, "acme.b": 2, "acme.c": 3, "globex.d": 40 });
  expect(await expired(runs, { maxRuns: 2, maxAgeMs: 30 * dayMs })).toEqual(["acme.c", "globex.d"]);
});
