import { timestampMs } from "@bufbuild/protobuf/wkt";
import { FiringOutcome, OnMissed } from "@reeve/contracts/trigger";
import { expect, test } from "vitest";
import type { MemoryTriggers } from "../../../../test/support/memory-triggers.ts";
import {
  firingsOf,
  hourMs,
  memoryTriggers,
  nightly,
  startMs,
  storeTrigger,
} from "../../../../test/support/memory-triggers.ts";
import { fireDue } from "./fire-due.ts";
import { isTimeAhead, repairTime } from "./repair-time.ts";

const never = new AbortController().signal;

async function isAhead(ports: MemoryTriggers) {
  const row = await ports.records.get("acme.nightly", never);
  return row !== undefined && isTimeAhead(row.record, ports.nowMs);
}

async function nextTimeOf(ports: MemoryTriggers) {
  const { nextFiringAt } = (await ports.records.get("acme.nightly", never))?.record.trigger ?? {};
  return nextFiringAt && timestampMs(nextFiringAt);
}

// Requirement: TRIG-2
test("the next time that a gateway set whose clock is ahead is corrected", async () => {
  const ports = await memoryTriggers();
  const schedule = { cron: "0 * * * *", onMissed: OnMissed.SKIP };
  await storeTrigger(ports, { source: { case: "schedule", value: schedule } });
  const ahead = { ...ports, clock: { now: () => startMs + 365 * 24 * hourMs + 90_000 } };
  await fireDue(ahead, nightly, never);
  ports.nowMs = startMs + 4.5 * hourMs;
  expect(await isAhead(ports)).toBe(true);
  expect(await repairTime(ports, nightly, never)).toBe(true);
  expect(await nextTimeOf(ports)).toBe(startMs + 5 * hourMs);
  ports.nowMs = startMs + 5 * hourMs;
  await fireDue(ports, nightly, never);
  expect((await firingsOf(ports)).map(({ outcome }) => outcome)).toEqual([
    FiringOutcome.MISSED,
    FiringOutcome.STARTED,
  ]);
});

test("a time that the schedule states, or that nothing shows to be wrong, stays", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  ports.nowMs = startMs + hourMs;
  await fireDue(ports, nightly, never);
  expect(await isAhead(ports)).toBe(false);
  // A clock that jumped back by less than gateways may differ sees a time that is later than the schedule says.
  ports.nowMs = startMs + hourMs - 240_000;
  expect(await isAhead(ports)).toBe(true);
  expect(await repairTime(ports, nightly, never)).toBe(false);
  expect(await nextTimeOf(ports)).toBe(startMs + 2 * hourMs);
});
