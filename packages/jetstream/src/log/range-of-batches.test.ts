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

const range = (tail: typeof emptyTail, ...batches: readonly StoredBatch[]) =>
  rangeOfBatches(runLogDefinition, "run.acme.run_1.log", tail, batches);

describe("the batches of a log", () => {
  test("continue a tail, and those before it are skipped", () => {
    const known = { sequence: 2, revision: 7, digest: "" };
    const { events, tail } = range(
      known,
      batch(5, 1, "a"),
      batch(7, 2, "b"),
      batch(9, 3, "c", "d"),
    );
    expect(wordsOf(events)).toEqual(["3 c", "4 d"]);
    expect(tail).toMatchObject({ sequence: 4, revision: 9 });
  });

  test("continue a sequence in the middle of a batch whose revision is unknown", () => {
    const inside = tailAt(2);
    const { events } = range(inside, batch(5, 1, "a"), batch(7, 2, "b", "c"), batch(9, 4, "d"));
    expect(wordsOf(events)).toEqual(["3 c", "4 d"]);
  });

  test.each([
    ["of the same length", batch(9, 2, "other")],
    ["that is longer", batch(9, 2, "other", "more")],
  ])("are refused when a second one has the same sequence: one %s", (_, second) => {
    const read = () => range(emptyTail, batch(5, 1, "a"), batch(7, 2, "b"), second);
    expect(read).toThrow(
      expect.objectContaining({
        kind: "internal",
        message: expect.stringMatching(
          /run\.acme\.run_1\.log has two batches with sequence 2: messages 7 and 9/,
        ) as string,
      }) as Error,
    );
  });

  test("are read again when one is missing", () => {
    expect(() => range(emptyTail, batch(5, 1, "a"), batch(9, 3, "c"))).toThrow(
      expect.objectContaining({ kind: "unavailable" }) as Error,
    );
  });
});
