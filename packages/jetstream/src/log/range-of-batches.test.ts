import { create, toBinary } from "@bufbuild/protobuf";
import { RunBatchSchema } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { texts, wordsOf } from "../../test/support/facts.ts";
import { runLogDefinition } from "./definitions.ts";
import { emptyTail, tailAt } from "./port.ts";
import { rangeOfBatches } from "./range-of-batches.ts";
import type { StoredBatch } from "./stored-batch.ts";

/** Returns a batch at a revision, with one text per word. */
function batch(revision: number, first: number, ...words: readonly string[]): StoredBatch {
  const events = texts(tailAt(first - 1), ...words);
  const data = toBinary(RunBatchSchema, create(RunBatchSchema, { firstSequence: first, events }));
  const last = first + words.length - 1;
  return {
    revision,
    first,
    last,
    kinds: ["text"],
    write: `w${revision}`,
    previousRevision: 0,
    digest: "",
    data,
  };
}

const source = {
  subject: "run.acme.run_1.log",
  open: (stored: StoredBatch) => Promise.resolve(stored),
};

const range = (tail: typeof emptyTail, ...batches: readonly StoredBatch[]) =>
  rangeOfBatches(runLogDefinition, source, tail, batches);

describe("the batches of a log", () => {
  test("continue a tail, and those before it are skipped", async () => {
    const known = { sequence: 2, revision: 7, digest: "" };
    const { events, tail } = await range(
      known,
      batch(5, 1, "a"),
      batch(7, 2, "b"),
      batch(9, 3, "c", "d"),
    );
    expect(wordsOf(events)).toEqual(["3 c", "4 d"]);
    expect(tail).toMatchObject({ sequence: 4, revision: 9 });
  });

  test("continue a sequence in the middle of a batch whose revision is unknown", async () => {
    const inside = tailAt(2);
    const { events } = await range(
      inside,
      batch(5, 1, "a"),
      batch(7, 2, "b", "c"),
      batch(9, 4, "d"),
    );
    expect(wordsOf(events)).toEqual(["3 c", "4 d"]);
  });

  test.each([
    ["of the same length", batch(9, 2, "other")],
    ["that is longer", batch(9, 2, "other", "more")],
  ])("are refused when a second one has the same sequence: one %s", async (_, second) => {
    const read = range(emptyTail, batch(5, 1, "a"), batch(7, 2, "b"), second);
    await expect(read).rejects.toMatchObject({
      kind: "internal",
      message: expect.stringMatching(
        /run\.acme\.run_1\.log has two batches with sequence 2: messages 7 and 9/,
      ),
    });
  });

  test("are read again when one is missing", async () => {
    const read = range(emptyTail, batch(5, 1, "a"), batch(9, 3, "c"));
    await expect(read).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("let other work of the process run while many are decoded", async () => {
    let turns = 0;
    let isDecoded = false;
    const other = () => {
      turns += 1;
      if (!isDecoded) setImmediate(other);
    };
    setImmediate(other);
    const batches = Array.from({ length: 20 }, (_, index) =>
      batch(index + 1, index + 1, "x".repeat(150_000)),
    );
    expect((await range(emptyTail, ...batches)).events).toHaveLength(20);
    isDecoded = true;
    expect(turns).toBeGreaterThan(10);
  });
});
