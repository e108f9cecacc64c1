import { expect, test } from "vitest";
import { chaos } from "./support/chaos.ts";

const limitMs = 600_000;

// Requirement: DUR-3, DUR-4
test(
  "runs keep every promise while the processes around them are killed and stopped",
  async () => {
    const notes: string[] = [];
    const report = await chaos({
      seed: 20_261_121,
      runs: 16,
      abreast: 16,
      hands: 2,
      note: (line) => notes.push(line),
    });
    // What was done to the processes is shown beside what it broke.
    expect(report.broken.length === 0 ? [] : [...report.broken, ...notes]).toEqual([]);
    expect(report.completed + report.cancelled).toBe(16);
    expect(report.harmDone).toBeGreaterThan(0);
    expect(report.effects).toBeGreaterThan(16);
  },
  limitMs,
);
