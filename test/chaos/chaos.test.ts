import { expect, test } from "vitest";
import { chaos } from "./support/chaos.ts";

const limitMs = 600_000;

// Requirement: DUR-3, DUR-4
test(
  "runs keep all guarantees while processes are killed and stopped",
  async () => {
    const notes: string[] = [];
    const report = await chaos({
      seed: 20_261_121,
      runs: 16,
      parallelRuns: 16,
      parallelFaults: 2,
      note: (line) => notes.push(line),
    });
    // On failure, the report shows the injected faults beside the violations.
    expect(report.violations.length === 0 ? [] : [...report.violations, ...notes]).toEqual([]);
    expect(report.completed + report.cancelled).toBe(16);
    expect(report.faultCount).toBeGreaterThan(0);
    expect(report.effects).toBeGreaterThan(16);
  },
  limitMs,
);
