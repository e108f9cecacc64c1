import { fromBinary, fromJson, toBinary } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { RunEventSchema } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { nextEffects } from "../next-effects.ts";
import { nextFacts } from "../next-facts.ts";
import { applyAll } from "../state/apply.ts";
import { initialState, rootOf } from "../state/run-state.ts";

const publish = { name: "publish", pathArguments: ["path"], parallelSafe: false };
const rules = [{ tool: 'publish(amount = "much")', behavior: "ask" }];
const spec = {
  sections: { permission: fromJson(ValueSchema, { default_behavior: "allow", rules }) },
  approvalPolicy: { alternatives: [{ filter: 'arguments.amount == "much"' }] },
};

/** Returns the state of a run with calls, as another worker folds it, and how often the arguments of its first call are read. */
function foldedAnew(calls: number) {
  const run = new PlayedRun(spec, { tools: [publish] });
  const args = { path: "a", amount: "much" };
  run.turn(...Array.from({ length: calls }, () => ({ name: "publish", args })));
  const events = run.events.map((event) =>
    fromBinary(RunEventSchema, toBinary(RunEventSchema, event)),
  );
  const state = applyAll(initialState, events);
  const found = rootOf(state).calls[0]?.call.arguments ?? {};
  let reads = 0;
  const get = () => {
    reads++;
    return "much";
  };
  Object.defineProperty(found, "amount", { enumerable: true, get });
  return { state, reads: () => reads };
}

describe("the checks of a call", () => {
  test("are made once, however often the state is asked what follows", () => {
    const { state, reads } = foldedAnew(3);
    expect(nextEffects(state).map(({ kind }) => kind)).toEqual(["inspect_call"]);
    const first = reads();
    expect(first).toBeGreaterThan(0);
    for (let pass = 0; pass < 5; pass++) {
      nextFacts(state, 1_000);
      nextEffects(state);
    }
    expect(reads()).toBe(first);
  });

  test("share the work of one turn: with many calls, each has less", () => {
    const args = { q: "a".repeat(20_000) };
    const policy = { alternatives: [{ filter: 'arguments.q.contains("b") || true' }] };
    const asked = (calls: number) => {
      const run = new PlayedRun({ hitlTools: ["search"], approvalPolicy: policy });
      run.turn(...Array.from({ length: calls }, () => ({ name: "search", args })));
      return run.all("approval").length;
    };
    expect([asked(10), asked(100)]).toEqual([10, 0]);
  });
});
