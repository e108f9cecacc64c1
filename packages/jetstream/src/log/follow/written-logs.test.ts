import { describe, expect, test } from "vitest";
import type { StoredBatch } from "../stored-batch.ts";
import { WrittenLogs } from "./written-logs.ts";

/** Returns a batch of one event. */
function batchOf(sequence: number, bytes = 10): StoredBatch {
  const [revision, previousRevision] = [100 + sequence, sequence === 1 ? 0 : 99 + sequence];
  const place = { first: sequence, last: sequence, revision, previousRevision };
  return { ...place, kinds: [], digest: "", write: "", data: new Uint8Array(bytes) };
}

describe("a log that was written from its beginning", () => {
  test("is known as a whole", () => {
    const logs = new WrittenLogs();
    for (const sequence of [1, 2, 3]) logs.add("a", batchOf(sequence));
    expect(logs.get("a")?.map(({ first }) => first)).toEqual([1, 2, 3]);
    expect(logs.get("b")).toBeUndefined();
  });

  test.each([
    ["misses a batch", [batchOf(1), batchOf(3)]],
    ["continues one that is not known", [batchOf(2), batchOf(3)]],
    ["was added in another order", [batchOf(2), batchOf(1)]],
    ["was added in another order, and continues", [batchOf(2), batchOf(1), batchOf(2)]],
    ["continues another batch", [batchOf(1), { ...batchOf(2), previousRevision: 7 }]],
    ["is too large", [batchOf(1), batchOf(2, 65 * 1024)]],
  ])("is not known any more when it %s", (_, batches) => {
    const logs = new WrittenLogs();
    for (const batch of batches) logs.add("a", batch);
    expect(logs.get("a")).toBeUndefined();
  });

  test("is not known by its first batch alone when a later one was added before a reconnection", () => {
    const logs = new WrittenLogs();
    logs.add("a", batchOf(2));
    logs.clear();
    logs.add("a", batchOf(1));
    expect(logs.get("a")).toBeUndefined();
  });

  test("is forgotten before logs that were written later", () => {
    const logs = new WrittenLogs();
    for (let count = 0; count < 100; count++) logs.add(`log ${count}`, batchOf(1, 60 * 1024));
    expect(logs.get("log 0")).toBeUndefined();
    expect(logs.get("log 99")).toHaveLength(1);
    logs.clear();
    expect(logs.get("log 99")).toBeUndefined();
  });
});
