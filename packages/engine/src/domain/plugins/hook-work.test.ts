import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { expect, test } from "vitest";
import { endHooks } from "../../../test/support/plugins/plugged-run.ts";
import { PlayedRun } from "../../../test/support/run-player.ts";

const plugin = {
  pluginDescriptor: {
    id: "watch",
    version: "1",
    phases: [HookPhase.TOOL_GATE, HookPhase.BEFORE_TOOL, HookPhase.AFTER_TOOL],
  },
  digest: "d",
  origin: "package",
};

/** Returns how often the loop looks up whether a plugin has a hook, in a run with one turn of so many calls. */
function lookupsWith(count: number): number {
  const budgets = { maxToolCalls: 10_000, maxParallel: 1 };
  const run = new PlayedRun({ budgets }, { plugins: [{ plugin }] });
  const [pinned] = run.state.plugins?.pinned ?? [];
  const phases = pinned?.plugin?.pluginDescriptor?.phases ?? [];
  let lookups = 0;
  phases.includes = (phase, ...rest) => {
    lookups += 1;
    return Array.prototype.includes.call(phases, phase, ...rest);
  };
  run.turn(...Array.from({ length: count }, () => ({ name: "search" })));
  for (let index = 0; index < count; index++) endHooks(run).result(index, "found");
  endHooks(run).says("Done.").turn();
  expect(run.end).toBe("completed");
  return lookups;
}

// Requirement: RES-5
test("the work for the hooks of a turn grows with its calls, not with their square", () => {
  const [some, twice] = [lookupsWith(20), lookupsWith(40)];
  expect(twice / some).toBeLessThan(2.5);
  expect(twice).toBeLessThan(40 * 100);
});
