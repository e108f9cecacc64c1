import { create, equals } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunSchema } from "@reeve/contracts/run";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { runOf } from "@reeve/run/head/run-of";
import { foldOwnership, noOwnership, requiredDispatch } from "@reeve/run/head/ownership";
import type { Ownership } from "@reeve/run/head/ownership";
import { applyToSummary } from "@reeve/run/head/run-summary";
import type { TreeChanges } from "@reeve/run/tree/execution-tree";
import { treeAfter } from "@reeve/run/tree/execution-tree";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyWorld, play } from "../../test/support/random-world.ts";
import { applyAll } from "./state/apply.ts";
import { initialState } from "./state/run-state.ts";

/** The events in batches of these sizes; the last batch has the rest. */
function batchesOf(events: readonly RunEvent[], sizes: readonly number[]) {
  const batches: (readonly RunEvent[])[] = [];
  let start = 0;
  for (const size of sizes) {
    batches.push(events.slice(start, start + size));
    start += size;
  }
  return [...batches, events.slice(start)];
}

const anySizes = fc.array(fc.nat({ max: 12 }), { maxLength: 30 });

test("batches of any size give the same state as single events", () => {
  fc.assert(
    fc.property(anyWorld, anySizes, (world, sizes) => {
      const { events } = play(world);
      const single = applyAll(initialState, events);
      const batches = batchesOf(events, sizes);
      expect(batches.reduce(applyAll, initialState)).toEqual(single);
      expect(batches.reduce(foldHead, emptyHead)).toEqual(single.head);
      expect(events.reduce<TreeChanges>(treeAfter, undefined)).toEqual(single.head.tree);
    }),
    { numRuns: 40 },
  );
});

/** Of a head too, only what an ownership has. */
function ownershipIn(owned: Ownership): Ownership {
  const { isCreated, threadId, lastSequence, claim, parkedAt, wakeAtMs, endSequence } = owned;
  return { isCreated, threadId, lastSequence, claim, parkedAt, wakeAtMs, endSequence };
}

test("a sweeper, which folds only the ownership, requires the same dispatch as the head", () => {
  fc.assert(
    fc.property(anyWorld, fc.nat(), (world, at) => {
      const { events } = play(world);
      const prefix = events.slice(0, (at % events.length) + 1);
      const head = foldHead(emptyHead, prefix);
      const ownership = foldOwnership(noOwnership, prefix);
      expect(ownershipIn(head)).toEqual(ownership);
      expect(requiredDispatch("r", head)).toEqual(requiredDispatch("r", ownership));
    }),
    { numRuns: 40 },
  );
});

test("a sweeper skips kinds of a newer version", () => {
  fc.assert(
    fc.property(anyWorld, fc.nat(), (world, at) => {
      const { events } = play(world);
      const end = (at % events.length) + 1;
      const unknown = create(RunEventSchema, { sequence: end + 1 });
      const before = foldOwnership(noOwnership, events.slice(0, end));
      expect(foldOwnership(before, [unknown])).toEqual({ ...before, lastSequence: end + 1 });
    }),
    { numRuns: 20 },
  );
});

test("a stored row that is continued shows the same as the head of the log", () => {
  fc.assert(
    fc.property(anyWorld, (world) => {
      const { events } = play(world);
      let row = create(RunSchema);
      let head = emptyHead;
      for (const event of events) {
        row = applyToSummary(row, event);
        head = foldHead(head, [event]);
        const { lastSequence } = row;
        const shown = create(RunSchema, { ...runOf(head), lastSequence, output: "", plan: [] });
        expect(equals(RunSchema, row, shown)).toBe(true);
      }
    }),
    { numRuns: 40 },
  );
});
