import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { costSummaryOf } from "@reeve/run/head/ledger";
import { treeOf } from "@reeve/run/tree/execution-tree";
import { RunBatchSchema } from "@reeve/contracts/run";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { apply, applyAll } from "./state/apply.ts";
import { committedUsd } from "./budget/reserve-cost.ts";
import { limitsOf } from "./budget/limits.ts";
import type { PromptMessage } from "./model/model.ts";
import { promptFor } from "./model/prompt-for.ts";
import { initialState, liveFrames } from "./state/run-state.ts";
import type { PlayedRun } from "../../test/support/run-player.ts";
import { expectOrder } from "../../test/support/event-order.ts";
import { anyWorld, play, takeOver } from "../../test/support/random-world.ts";

/** Expects the results of its calls after each turn, in their order, and no other results. */
function expectWellFormed(messages: readonly PromptMessage[]): void {
  let awaited: readonly string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      expect(message.providerCallId).toBe(awaited[0]);
      awaited = awaited.slice(1);
      continue;
    }
    expect(awaited).toEqual([]);
    if (message.role === "verbatim") {
      awaited = (message.calls ?? []).map(({ providerCallId }) => providerCallId);
    }
  }
  expect(awaited).toEqual([]);
}

function expectSound(run: PlayedRun): void {
  const { state } = run;
  for (const frame of liveFrames(state)) {
    if (frame.modelCall !== undefined) expectWellFormed(promptFor(state, frame));
  }
  const { costUsd = Infinity } = limitsOf(state);
  expect(committedUsd(state)).toBeLessThanOrEqual(costUsd + 1e-9);
  expect([...state.frames.values()].every(({ depth }) => depth <= 3)).toBe(true);
}

// Requirement: PLAN-2, EVT-2
test("every run of every world ends in order and within its limits", () => {
  fc.assert(
    fc.property(anyWorld, (world) => {
      const run = play(world, expectSound);
      expectOrder(run.events);
      // The end includes everything before it.
      expect(run.all("treeStored")).toEqual([
        { ...run.all("treeStored")[0], tree: treeOf(run.state.head.tree) },
      ]);
      expect(run.all("costSummary")).toMatchObject([costSummaryOf(run.state.head.spent)]);
    }),
    { numRuns: 80 },
  );
});

test("the state is the fold of the log, wherever it is cut, also after storage", () => {
  fc.assert(
    fc.property(anyWorld, fc.nat(), (world, at) => {
      const run = play(world);
      const cut = at % (run.events.length + 1);
      const prefix = applyAll(initialState, run.events.slice(0, cut));
      const whole = applyAll(prefix, run.events.slice(cut));
      expect(whole).toEqual(run.state);
      const batch = create(RunBatchSchema, { firstSequence: 1, events: [...run.events] });
      const stored = toBinary(RunBatchSchema, batch);
      expect(applyAll(initialState, fromBinary(RunBatchSchema, stored).events)).toEqual(whole);
    }),
    { numRuns: 40 },
  );
});

function forbid(): never {
  throw new TypeError("a state is never changed in place");
}

/** Makes every later change of `value`, or of anything in it, throw. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  // The bytes of a view cannot be frozen; the domain never writes any.
  if (ArrayBuffer.isView(value)) return;
  if (value instanceof Map || value instanceof Set) {
    Object.assign(value, { set: forbid, add: forbid, delete: forbid, clear: forbid });
    for (const inner of value) freeze(inner);
  }
  for (const inner of Object.values(value)) freeze(inner);
  Object.freeze(value);
}

test("folding changes neither the state before it nor the event", () => {
  fc.assert(
    fc.property(anyWorld, (world) => {
      let state = initialState;
      for (const event of play(world).events) {
        freeze(state);
        freeze(event);
        expect(() => (state = apply(state, event))).not.toThrow();
      }
    }),
    { numRuns: 20 },
  );
});

// Requirement: EVT-2
test("a run continues to its end in order wherever its log was cut and its worker lost", () => {
  fc.assert(
    fc.property(anyWorld, fc.array(fc.nat(), { minLength: 1, maxLength: 8 }), (world, cuts) => {
      const { events } = play(world);
      for (const cut of cuts) {
        const survived = 1 + (cut % events.length);
        expectOrder(takeOver(events, survived, world.choices.slice(-10)).events);
      }
    }),
    { numRuns: 80 },
  );
}, 120_000);
