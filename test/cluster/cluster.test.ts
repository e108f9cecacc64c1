import { expect, test } from "vitest";
import { whyNoReplicas } from "../support/nats-program.ts";
import { clusterChaos } from "./support/cluster-chaos.ts";

const limitMs = 600_000;
const reason = whyNoReplicas();

// Requirement: DUR-3, DUR-4
test.skipIf(reason !== "")(
  `runs keep all guarantees while three NATS servers are killed, stopped, and partitioned${reason}`,
  async () => {
    const notes: string[] = [];
    const report = await clusterChaos({
      seed: 20_261_122,
      runs: 4,
      parallelRuns: 4,
      parallelFaults: 1,
      hasLongFaults: false,
      note: (line) => notes.push(line),
    });
    // On failure, the report shows the injected faults beside the violations.
    expect(report.violations.length === 0 ? [] : [...report.violations, ...notes]).toEqual([]);
    expect(report.completed + report.cancelled).toBe(4);
    expect(report.faultCount).toBeGreaterThan(0);
  },
  limitMs,
);
