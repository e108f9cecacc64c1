import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { GuardAction, GuardTarget } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { nextEffects } from "../next-effects.ts";
import { plannerId } from "../state/frame.ts";
import { frameOf } from "../state/run-state.ts";
import { unitsOf } from "../state/units.ts";
import { phasesOf } from "./guards-at.ts";

const section = {
  tools: [{ name: "g", literals: ["secret"], on: "result", action: "refuse" }],
};
const guards = {
  plugin: { pluginDescriptor: { id: "guardrails", phases: [...phasesOf(new Set(["result"]))] } },
  guardrails: { sections: [{ section: fromJson(ValueSchema, section) }] },
};

// Requirement: RES-13
test("a planner does not read a result that a guard refuses", () => {
  const run = new PlayedRun(
    { planningEnabled: true },
    {
      tools: [{ name: "search", source: "builtin", inputSchema: { type: "object" } }],
      prepared: { planningModel: { id: "p" } },
      plugins: [guards],
    },
  );
  run.turn({ name: "search" }).result(0, "secret");
  const [hook] = nextEffects(run.state);
  if (hook?.kind !== "run_hook") throw new Error("no hook is due");
  run.hookEnds(hook, {}, "", [
    { guard: "g", action: GuardAction.REFUSE, target: GuardTarget.RESULT, reason: "bad" },
  ]);
  expect(run.all("modelCallStarted")).toHaveLength(2);
  const results = unitsOf(frameOf(run.state, plannerId)).flatMap((unit) =>
    unit.kind === "turn" ? unit.calls.map(({ result }) => result?.content) : [],
  );
  expect(results).toEqual([expect.stringContaining("withholds this result")]);
});
