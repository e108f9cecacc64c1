import * as fc from "fast-check";
import { expect, test } from "vitest";
import { expectOrder } from "../../../test/support/event-order.ts";
import { allPhases } from "../../../test/support/plugins/memory-plugins.ts";
import type { World } from "../../../test/support/random-world.ts";
import { anyWorld, play, takeOver } from "../../../test/support/random-world.ts";
import { apply } from "../state/apply.ts";
import { initialState } from "../state/run-state.ts";

const plugins = ["first", "second"].map((id) => ({
  plugin: { pluginDescriptor: { id, version: "1", phases: [...allPhases], handlesActions: true } },
}));

function withPlugins({ setting, ...world }: World): World {
  return { ...world, setting: { ...setting, plugins } };
}

// Requirement: RES-5
test("every run with plugins ends in order, and no hook ends twice", () => {
  fc.assert(
    fc.property(anyWorld, (world) => {
      const run = play(withPlugins(world));
      expectOrder(run.events);
      const ids = run.all("pluginHookFinished").map(({ hookId }) => hookId);
      expect(new Set(ids).size).toBe(ids.length);
    }),
    { numRuns: 60 },
  );
});

test("a run with plugins ends also if its owner dies after any of its facts", () => {
  fc.assert(
    fc.property(anyWorld, fc.nat(1_000), (world, cut) => {
      const { events } = play(withPlugins(world));
      const survived = 1 + (cut % (events.length - 1));
      const run = takeOver(events, survived);
      const ids = run.all("pluginHookFinished").map(({ hookId }) => hookId);
      expect(new Set(ids).size).toBe(ids.length);
    }),
    { numRuns: 40 },
  );
});

test("the state of plugins is the fold of the log", () => {
  fc.assert(
    fc.property(anyWorld, (world) => {
      const run = play(withPlugins(world));
      const folded = run.events.reduce(apply, initialState);
      expect(folded.plugins).toEqual(run.state.plugins);
    }),
    { numRuns: 20 },
  );
});
