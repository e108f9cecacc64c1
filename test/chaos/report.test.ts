import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import type { ChaosReport } from "./support/report.ts";
import { seedTable } from "./support/report.ts";
import { takeoverPauses } from "./support/takeover-pauses.ts";

const at = (ms: number, kind: "runClaimed" | "runParked" | "text") =>
  create(RunEventSchema, {
    time: timestampFromMs(ms),
    event: { case: kind, value: {} } as RunEvent["event"],
  });

test("the time of a takeover is that from the last event before it, and a claim after a park is none", () => {
  const stored = [
    at(1_000, "runClaimed"),
    at(1_100, "text"),
    at(1_900, "runClaimed"),
    at(2_000, "runParked"),
    at(9_000, "runClaimed"),
    at(9_250, "runClaimed"),
  ];
  expect(takeoverPauses(stored)).toEqual([800, 250]);
});

test("the table of seeds shows each seed and the sums", () => {
  const report: ChaosReport = {
    seed: 1,
    runs: 2,
    seconds: 3,
    completed: 1,
    cancelled: 1,
    events: 20,
    calls: 4,
    effects: 3,
    unknownOutcomes: 1,
    falseAlarms: 0,
    takeovers: 2,
    takeoverMs: [400, 900],
    interruptions: 5,
    longestPauseMs: 2_300,
    longestPauseWithStoreMs: 1_800,
    faults: {},
    faultCount: 6,
    violations: [],
  };
  const shortest = { longestPauseMs: 700, longestPauseWithStoreMs: 700 };
  const other = { ...report, seed: 2, takeoverMs: [], ...shortest, violations: ["lost"] };
  expect(seedTable([report, other]).split("\n").slice(2)).toEqual([
    "| 1 | 1 | 1 | 3 | 6 | 2 | 0.9 s | 0.9 s | 4 | 3 | 1 (0) | 2.3 s (1.8 s) | 0 |",
    "| 2 | 1 | 1 | 3 | 6 | 2 |  |  | 4 | 3 | 1 (0) | 0.7 s (0.7 s) | 1 |",
    "| **all** | 2 | 2 | 6 | 12 | 4 | 0.9 s | 0.9 s | 8 | 6 | 2 (0) | 2.3 s (1.8 s) | 1 |",
  ]);
});
