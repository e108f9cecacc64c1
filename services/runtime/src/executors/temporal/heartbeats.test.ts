import { expect, test } from "vitest";
import { heartbeatsFor } from "./heartbeats.ts";

// Requirement: DUR-5
test("a silent worker keeps its runs as long as everywhere else, and Temporal asks another one sooner", () => {
  for (const ackWaitMs of [2_000, 5_000, 15_000, 60_000]) {
    const { timeoutMs, intervalMs, graceMs } = heartbeatsFor(ackWaitMs);
    expect(timeoutMs + graceMs).toBe(ackWaitMs);
    expect(timeoutMs).toBeLessThanOrEqual(5_000);
    expect(intervalMs * 4).toBeLessThan(timeoutMs);
  }
});
