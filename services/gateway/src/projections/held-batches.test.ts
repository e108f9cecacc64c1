import { create } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { HeldBatches } from "./held-batches.ts";

type Content =
  | RunEvent["event"]
  | { readonly case: "status"; readonly value: { status: RunStatus } };

/** Returns a batch of one event. */
function batchOf(sequence: number, event: Content) {
  const key = { tenant: "acme", run: "run_1" };
  const events = [create(RunEventSchema, { sequence, event: event as RunEvent["event"] })];
  return { key, events, acknowledge: () => undefined };
}

const status = (value: RunStatus) =>
  ({ case: "status", value: { status: value } }) as {
    case: "status";
    value: { status: RunStatus };
  };
const running = batchOf(2, status(RunStatus.RUNNING));

test.each([
  ["begins", batchOf(1, status(RunStatus.QUEUED))],
  ["waits", batchOf(5, status(RunStatus.WAITING))],
  ["has ended", batchOf(5, status(RunStatus.COMPLETED))],
  ["has an event of a newer version", batchOf(5, { case: undefined })],
])("the row of a run that %s is written now, with what waited for it", (_, last) => {
  const held = new HeldBatches({ maxMs: 100, maxRuns: 10 });
  expect(held.add("a", [running], 0)).toEqual([]);
  expect(held.add("b", [running], 0)).toEqual([]);
  expect(held.add("a", [last], 1)).toEqual([running, last]);
  expect(held.takeAll()).toEqual([[running]]);
});

test("what a run does meanwhile waits for its time since the first of it, and no longer", () => {
  const held = new HeldBatches({ maxMs: 100, maxRuns: 10 });
  held.add("a", [running], 0);
  held.add("b", [running], 50);
  held.add("a", [running], 90);
  expect(held.takeDue(99)).toEqual([]);
  expect(held.takeDue(100)).toEqual([[running, running]]);
  expect(held.takeDue(150)).toEqual([[running]]);
  expect(held.takeAll()).toEqual([]);
});

test("beyond its limit of runs, nothing waits", () => {
  const held = new HeldBatches({ maxMs: 100, maxRuns: 1 });
  expect(held.add("a", [running], 0)).toEqual([]);
  expect(held.add("b", [running], 0)).toEqual([running]);
});
