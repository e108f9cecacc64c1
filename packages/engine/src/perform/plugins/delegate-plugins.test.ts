import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { expect, test } from "vitest";
import { ask, delegatingRun } from "../../../test/support/delegating-run.ts";
import { dueHooks } from "../../domain/plugins/due-hooks.ts";
import type { PlayedRun } from "../../../test/support/run-player.ts";

const due = (run: PlayedRun) =>
  dueHooks(run.state).map(({ point }) => [point?.phase, point?.call?.call.name]);

test("a plugin of a delegate has hooks in the work of that delegate and of those below it only", () => {
  const phases = [HookPhase.RUN_START, HookPhase.TOOL_GATE];
  const plugins = [
    {
      plugin: { pluginDescriptor: { id: "guard", version: "1", phases }, digest: "d" },
      delegateIds: ["finder"],
    },
  ];
  const run = delegatingRun({}, {}, {}, plugins);
  expect(due(run)).toEqual([]);
  run.turn({ name: "search" }, ask("finder"));
  expect(due(run)).toEqual([]);
  const [finder = ""] = run.subtasks;
  run.turnIn(finder, [{ name: "search" }]);
  expect(due(run)).toEqual([[HookPhase.TOOL_GATE, "search"]]);
});

test("a plugin that only a delegate names is activated before the run starts", () => {
  const phases = [HookPhase.ACTIVATE, HookPhase.RUN_START];
  const plugins = [
    {
      plugin: { pluginDescriptor: { id: "guard", version: "1", phases }, digest: "d" },
      delegateIds: ["finder"],
    },
  ];
  expect(due(delegatingRun({}, {}, {}, plugins))).toEqual([[HookPhase.ACTIVATE, undefined]]);
});
