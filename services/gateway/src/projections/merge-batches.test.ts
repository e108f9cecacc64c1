import { create } from "@bufbuild/protobuf";
import { RunEventSchema } from "@reeve/contracts/run";
import type { RunFeedBatch } from "@reeve/jetstream/feed/run-feed";
import { expect, test } from "vitest";
import { mergeBatches } from "./merge-batches.ts";

const key = { tenant: "acme", run: "run_1" };

/** Returns a batch with these sequences, which adds itself to `acknowledged`. */
function batch(acknowledged: number[], ...sequences: readonly number[]): RunFeedBatch {
  return {
    key,
    events: sequences.map((sequence) => create(RunEventSchema, { sequence })),
    acknowledge: () => acknowledged.push(sequences[0] ?? 0),
  };
}

const sequencesOf = (batches: readonly RunFeedBatch[]) =>
  batches.map(({ events }) => events.map(({ sequence }) => sequence));

test("batches of a run become one, in the order of its log, which acknowledges all", () => {
  const acknowledged: number[] = [];
  const given = [batch(acknowledged, 4), batch(acknowledged, 1, 2), batch(acknowledged, 7, 8)];
  const merged = mergeBatches(given);
  expect(sequencesOf(merged)).toEqual([[1, 2, 4, 7, 8]]);
  expect(acknowledged).toEqual([]);
  merged[0]?.acknowledge();
  expect(acknowledged.toSorted((a, b) => a - b)).toEqual([1, 4, 7]);
});

test("batches that overlap stay as they are", () => {
  const given = [batch([], 1, 2), batch([], 4), batch([], 1, 2)];
  expect(mergeBatches(given)).toBe(given);
  expect(mergeBatches([])).toEqual([]);
});
