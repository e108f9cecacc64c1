import { expect, test } from "vitest";
import { lanesOf } from "./lane.ts";

// Requirement: HOST-10
test("a tenant keeps its two lanes, which differ", () => {
  // Writers of other versions, and in other languages, choose the same ones.
  expect(lanesOf("acme", 8)).toEqual([2, 4]);
  for (let tenant = 0; tenant < 1_000; tenant++) {
    const [first, second] = lanesOf(`tenant-${tenant}`, 8);
    expect(first).not.toBe(second);
    expect(Math.max(first, second)).toBeLessThan(8);
  }
});

test("tenants are spread over all lanes evenly", () => {
  const tenants = Array.from({ length: 8_000 }, (_, tenant) => lanesOf(`tenant-${tenant}`, 8));
  for (const choice of [0, 1] as const) {
    const counts = Map.groupBy(tenants, (lanes) => lanes[choice]);
    expect(counts.size).toBe(8);
    for (const found of counts.values()) expect(Math.abs(found.length - 1_000)).toBeLessThan(150);
  }
});
