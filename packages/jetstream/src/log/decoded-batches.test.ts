import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { RunBatchSchema, RunEventSchema } from "@reeve/contracts/run";
import { ToolCallJournalSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { DecodedBatches } from "./decoded-batches.ts";

const batch = (firstSequence: number) => create(RunBatchSchema, { firstSequence });
const encoded = (firstSequence: number) => toBinary(RunBatchSchema, batch(firstSequence));

test("a batch is decoded once for all of its readers", () => {
  const decoded = new DecodedBatches();
  const first = decoded.of(RunBatchSchema, { write: "w-5", data: encoded(1) }, () => batch(1));
  const again = decoded.of(RunBatchSchema, { write: "w-5", data: encoded(1) }, () => batch(1));
  expect(again).toBe(first);
});

test("a batch that this process stores is not decoded, unless its bytes are others", () => {
  const decoded = new DecodedBatches();
  const stored = batch(1);
  decoded.add(RunBatchSchema, { write: "w-5", data: encoded(1) }, stored);
  const read = (firstSequence: number) =>
    decoded.of(RunBatchSchema, { write: "w-5", data: encoded(firstSequence) }, () =>
      batch(firstSequence),
    );
  expect(read(1)).toBe(stored);
  expect(read(2).firstSequence).toBe(2);
});

test("a batch of this process is decoded where encoding has replaced text of it", () => {
  const decoded = new DecodedBatches();
  const event = create(RunEventSchema, { runId: "half of a pair: \uD83D" });
  const stored = create(RunBatchSchema, { firstSequence: 1, events: [event] });
  const data = toBinary(RunBatchSchema, stored);
  decoded.add(RunBatchSchema, { write: "w-5", data }, stored);
  const decode = () => fromBinary(RunBatchSchema, data);
  const read = decoded.of(RunBatchSchema, { write: "w-5", data }, decode);
  expect(read.events[0]?.runId).toBe("half of a pair: \uFFFD");
});

test("other bytes of the same write are another batch, and so is a batch of another kind of log", () => {
  const decoded = new DecodedBatches();
  decoded.of(RunBatchSchema, { write: "w-5", data: encoded(1) }, () => batch(1));
  const other = decoded.of(RunBatchSchema, { write: "w-5", data: encoded(2) }, () => batch(2));
  expect(other.firstSequence).toBe(2);
  const journal = create(ToolCallJournalSchema, { firstSequence: 1 });
  const data = toBinary(ToolCallJournalSchema, journal);
  expect(decoded.of(ToolCallJournalSchema, { write: "w-5", data }, () => journal)).toBe(journal);
});

test("the oldest batches are forgotten, and large ones are not held", () => {
  const decoded = new DecodedBatches(2 * encoded(1).length);
  const read = (write: number, data = encoded(write)) =>
    decoded.of(RunBatchSchema, { write: String(write), data }, () => batch(write));
  const [first, second] = [read(1), read(2)];
  expect(read(1)).toBe(first);
  read(3);
  expect(read(1)).not.toBe(first);
  expect(second.firstSequence).toBe(2);
  const large = new Uint8Array(100_000);
  expect(read(9, large)).not.toBe(read(9, large));
});
