import { describe, expect, test } from "vitest";
import { RecentBatches } from "./recent-batches.ts";
import type { StoredBatch } from "../stored-batch.ts";

const subject = "run.acme.run_1.log";

/** Returns a batch of one event, whose revision is ten times its sequence. */
function batch(sequence: number, bytes = 10): StoredBatch {
  return {
    revision: 10 * sequence,
    previousRevision: 10 * (sequence - 1),
    first: sequence,
    last: sequence,
    kinds: ["text"],
    write: `w${sequence}`,
    digest: "",
    data: new Uint8Array(bytes),
  };
}

function recent(...batches: readonly StoredBatch[]): RecentBatches {
  const held = new RecentBatches();
  for (const each of batches) held.add({ subject, ...each });
  return held;
}

const range = (after: number, last: number, maxBytes = Infinity) => ({
  after: { sequence: after },
  last: batch(last),
  maxBytes,
});

const sequencesOf = (batches: readonly StoredBatch[] | undefined) =>
  batches?.map(({ first }) => first);

describe("the batches that a process appended last", () => {
  test("complete a read of which the last batch is known", () => {
    const held = recent(batch(1), batch(2), batch(3));
    expect(sequencesOf(held.between(subject, range(0, 4)))).toEqual([1, 2, 3]);
    expect(sequencesOf(held.between(subject, range(2, 4)))).toEqual([3]);
    expect(sequencesOf(held.between(subject, range(3, 4)))).toEqual([]);
  });

  test("complete no read when one is missing, belongs to another log, or they are too large", () => {
    expect(recent(batch(1), batch(3)).between(subject, range(0, 4))).toBeUndefined();
    expect(recent(batch(1)).between("run.acme.run_2.log", range(0, 2))).toBeUndefined();
    expect(recent(batch(1), batch(2)).between(subject, range(0, 3, 15))).toBeUndefined();
    const other = { ...batch(1), last: 0 };
    expect(recent(other).between(subject, range(0, 2))).toBeUndefined();
  });

  test("are bounded by their size, and forgotten when the store may have lost them", () => {
    const held = recent(batch(1, 600_000), batch(2, 600_000));
    expect(held.between(subject, range(0, 3))).toBeUndefined();
    expect(sequencesOf(held.between(subject, range(1, 3)))).toEqual([2]);
    expect(held.clear()).toBe(true);
    expect(held.between(subject, range(1, 3))).toBeUndefined();
    expect(held.clear()).toBe(false);
  });

  test("count once when they are held again, and with what an object takes", () => {
    const held = recent(batch(1, 600_000), batch(1, 600_000), batch(2, 400_000));
    expect(sequencesOf(held.between(subject, range(0, 3)))).toEqual([1, 2]);
    const tiny = Array.from({ length: 3_000 }, (_, index) => batch(index + 1, 1));
    const some = recent(...tiny);
    expect(some.between(subject, range(0, 3_001))).toBeUndefined();
    expect(some.between(subject, range(2_000, 3_001))).toHaveLength(1_000);
  });
});
