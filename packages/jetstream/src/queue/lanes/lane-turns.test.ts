import { describe, expect, test } from "vitest";
import type { LaneState } from "./lane-turns.ts";
import { LaneTurns } from "./lane-turns.ts";

/** Lanes with the given numbers of messages, without open pulls. */
function lanes(...pending: readonly number[]): readonly LaneState[] {
  return pending.map((count) => ({ pending: count, isPulling: false, isStale: false }));
}

function slots(available: number, open: { expected?: number; waiting?: number } = {}) {
  return { available, expected: 0, waiting: 0, ...open };
}

describe("a taker", () => {
  test("waits on all lanes while none is known to have messages", () => {
    const pulls = new LaneTurns().next(lanes(0, 0, 0), slots(1));
    expect(pulls).toEqual([0, 1, 2].map((lane) => ({ lane, batch: 1, waits: true })));
  });

  test("divides its free slots among lanes with messages, and still waits on the others", () => {
    const pulls = new LaneTurns().next(lanes(50, 0, 50, 1), slots(20));
    expect(pulls).toEqual([
      { lane: 1, batch: 1, waits: true },
      { lane: 0, batch: 7, waits: false },
      { lane: 2, batch: 6, waits: false },
      { lane: 3, batch: 1, waits: false },
    ]);
  });

  test("with one free slot, looks at one other lane before each turn, and serves lanes in turn", () => {
    const turns = new LaneTurns();
    const seen = Array.from({ length: 8 }, () => turns.next(lanes(9, 0, 9, 0), slots(1)));
    const expected = [1, 0, 3, 2, 1, 0, 3, 2];
    expect(seen).toEqual(expected.map((lane) => [{ lane, batch: 1, waits: false }]));
  });

  test("with few free slots, first looks at the lanes that it has not looked at for a while", () => {
    const turns = new LaneTurns();
    const [busy, quiet, ...others] = lanes(9, 0, 0, 0);
    const stale = others.map((lane) => ({ ...lane, isStale: true }));
    const probes = [2, 3].map((lane) => ({ lane, batch: 1, waits: false }));
    const all = [busy, quiet, ...stale].filter((lane) => lane !== undefined);
    expect(turns.next(all, slots(2))).toEqual(probes);
    expect(turns.next(lanes(9, 0, 0, 0), slots(1))).toEqual([{ lane: 0, batch: 1, waits: false }]);
  });

  test("serves a lane after it has looked at the others once, however slow their answers are", () => {
    const turns = new LaneTurns();
    const slow = lanes(9, 0, 0).map((lane) => ({ ...lane, isStale: true }));
    const seen = Array.from({ length: 6 }, () => turns.next(slow, slots(1))[0]?.lane);
    expect(seen).toEqual([1, 2, 0, 1, 2, 0]);
  });

  test("gives every lane with messages its turn when it has fewer slots than such lanes", () => {
    const turns = new LaneTurns();
    const served = Array.from({ length: 9 }, () => turns.next(lanes(9, 9, 9), slots(2))).flat();
    for (const lane of [0, 1, 2]) {
      expect(served.filter((pull) => pull.lane === lane)).toHaveLength(6);
    }
  });

  test("begins nothing while open pulls may fill its slots, except those that wait", () => {
    const turns = new LaneTurns();
    expect(turns.next(lanes(5, 5), slots(2, { expected: 2 }))).toEqual([]);
    expect(turns.next(lanes(5), slots(2, { waiting: 8 }))).toEqual([
      { lane: 0, batch: 1, waits: false },
    ]);
  });

  test("waits on the other lanes while a lane with messages does not answer", () => {
    const silent: LaneState = { pending: 5, isPulling: true, isStale: false };
    const pulls = new LaneTurns().next([silent, ...lanes(0, 0)], slots(2, { expected: 1 }));
    expect(pulls).toEqual([1, 2].map((lane) => ({ lane, batch: 1, waits: true })));
  });

  test("does not pull again from a lane with an open pull", () => {
    const open: LaneState = { pending: 5, isPulling: true, isStale: true };
    expect(new LaneTurns().next([open], slots(5))).toEqual([]);
  });
});
