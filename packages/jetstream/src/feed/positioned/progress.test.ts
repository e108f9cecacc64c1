import { describe, expect, test } from "vitest";
import { ReadProgress, maxNamed } from "./progress.ts";

const delays = { firstDelayMs: 10, maxDelayMs: 40 };
const start = { sequence: 0, behind: new Map<string, number>(), aside: [] };

describe("the progress of a reader", () => {
  test("ends before the first message that is being processed", () => {
    const progress = new ReadProgress(start, delays);
    for (const sequence of [3, 5]) {
      progress.reach(sequence);
      progress.begin(sequence, 0);
    }
    progress.reach(9);
    progress.settle(5);
    expect(progress.state().sequence).toBe(2);
    progress.settle(3);
    expect(progress.state()).toEqual({ sequence: 9, behind: new Map(), aside: [] });
  });

  test("names a message that is not processed in time, tries it again, and passes it", () => {
    const progress = new ReadProgress(start, delays);
    progress.reach(3);
    progress.begin(3, 0);
    expect(progress.due(9)).toBeUndefined();
    expect(progress.due(10)).toEqual({ kind: "message", sequence: 3 });
    progress.begin(3, 10);
    progress.reach(8);
    expect(progress.state()).toEqual({ sequence: 8, behind: new Map(), aside: [3] });
    expect(progress.due(29)).toBeUndefined();
    expect(progress.quietMs(29)).toBe(1);
    progress.settle(3);
    expect(progress.state()).toEqual({ sequence: 8, behind: new Map(), aside: [] });
  });

  test("tries what it cannot process again at growing intervals", () => {
    const progress = new ReadProgress(start, delays);
    const waits = [0, 10, 30, 70].map((nowMs) => {
      progress.setAside(4, nowMs);
      progress.due(nowMs);
      return progress.quietMs(nowMs);
    });
    expect(waits).toEqual([10, 20, 40, 40]);
  });

  test("passes the messages of a tenant until the last one that was passed is processed", () => {
    const progress = new ReadProgress(start, delays);
    progress.pass("acme", 4, 0);
    progress.pass("acme", 7, 0);
    progress.reach(8);
    expect(progress.state()).toEqual({ sequence: 8, behind: new Map([["acme", 3]]), aside: [] });
    expect(progress.due(10)).toEqual({ kind: "tenant", tenant: "acme", after: 3, passed: 7 });
    progress.postpone("acme", 10);
    expect(progress.due(10)).toBeUndefined();
    progress.advance("acme", 4, 30);
    expect(progress.due(30)).toMatchObject({ tenant: "acme", after: 4 });
    progress.advance("acme", 7, 30);
    expect(progress.isBehind("acme")).toBe(false);
    expect(progress.state().behind).toEqual(new Map());
  });

  test("continues with what an earlier reader could not process", () => {
    const earlier = { sequence: 9, behind: new Map([["acme", 2]]), aside: [5] };
    const progress = new ReadProgress(earlier, delays);
    expect(progress.due(0)).toEqual({ kind: "message", sequence: 5 });
    progress.settle(5);
    expect(progress.due(0)).toEqual({ kind: "tenant", tenant: "acme", after: 2, passed: 9 });
    expect(progress.state()).toEqual({ ...earlier, aside: [] });
  });

  test("ends before what it cannot name", () => {
    const progress = new ReadProgress(start, delays);
    for (let sequence = 1; sequence <= maxNamed + 2; sequence++) progress.setAside(sequence, 0);
    progress.reach(maxNamed + 10);
    const { sequence, aside } = progress.state();
    expect(sequence).toBe(maxNamed);
    expect(aside).toHaveLength(maxNamed);
    const crowded = new ReadProgress(start, delays);
    for (let each = 1; each <= maxNamed + 1; each++) crowded.pass(`t${each}`, each, 0);
    crowded.reach(maxNamed + 10);
    expect(crowded.state().sequence).toBe(maxNamed);
  });

  test("a tenant is behind from its first message that a process before had not finished", () => {
    const before = new ReadProgress({ ...start, sequence: 9 }, delays);
    before.begin(10, 0);
    before.reach(10);
    before.pass("acme", 11, 0);
    before.reach(11);
    const stored = before.state();
    expect(stored).toEqual({ sequence: 9, behind: new Map([["acme", 9]]), aside: [] });
    const after = new ReadProgress({ ...stored, behind: new Map([["acme", 10]]) }, delays);
    after.pass("acme", 10, 0);
    expect(after.due(Infinity)).toMatchObject({ kind: "tenant", after: 9 });
  });
});
