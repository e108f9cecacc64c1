import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { expect, test, vi } from "vitest";
import { FaultLog } from "./support/fault-log.ts";
import { guarantees } from "./report/guarantees.ts";
import type { ChaosReport } from "./report/report.ts";
import { seedTable } from "./report/report.ts";
import { takeoverPauses } from "./report/takeover-pauses.ts";

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
  expect(takeoverPauses(stored, (fromMs, toMs) => (toMs - fromMs) / 2)).toEqual([400, 125]);
});

test("a run has no worker while NATS or Temporal is away, or all workers are", () => {
  vi.useFakeTimers({ now: 0 });
  using faults = new FaultLog();
  const fault = (target: string, fromMs: number, toMs: number) => {
    vi.setSystemTime(fromMs);
    const end = faults.begin("kill -9", target);
    vi.setSystemTime(toMs);
    end();
  };
  fault("runtime-1", 100, 400);
  fault("runtime-2", 300, 600);
  fault("nats", 350, 450);
  fault("temporal", 900, 2_000);
  expect(faults.awayMs(["runtime-1", "runtime-2"], 0, 1_000)).toBe(150 + 100);
  expect(faults.awayMs(["runtime-1"], 0, 100)).toBe(0);
  vi.useRealTimers();
});

test("the report names each guarantee of the page on durability", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/durability.md"), "utf8");
  const [, section = ""] = page.split("## Guarantees\n");
  const rows = section.split("\nThey hold")[0]?.match(/^\| [A-Z].*?(?= +\|)/gm) ?? [];
  expect(guarantees.map(([name]) => `| ${name}`)).toEqual(rows);
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
    takeoverWithWorkerMs: [300, 600],
    approvals: 2,
    turns: 1,
    interruptions: 5,
    longestPauseMs: 2_300,
    longestPauseWithStoreMs: 1_800,
    faults: {},
    faultCount: 6,
    violations: [],
  };
  const shortest = { longestPauseMs: 700, longestPauseWithStoreMs: 700 };
  const other = {
    ...report,
    seed: 2,
    takeoverMs: [],
    takeoverWithWorkerMs: [],
    ...shortest,
    violations: ["lost"],
  };
  expect(seedTable([report, other]).split("\n").slice(2)).toEqual([
    "| 1 | 1 | 1 | 3 | 6 | 2 | 0.9 s (0.6 s) | 0.9 s (0.6 s) | 4 | 3 | 1 (0) | 2.3 s (1.8 s) | 0 |",
    "| 2 | 1 | 1 | 3 | 6 | 2 |  |  | 4 | 3 | 1 (0) | 0.7 s (0.7 s) | 1 |",
    "| **all** | 2 | 2 | 6 | 12 | 4 | 0.9 s (0.6 s) | 0.9 s (0.6 s) | 8 | 6 | 2 (0) | 2.3 s (1.8 s) | 1 |",
  ]);
});
