import { expect, test } from "vitest";
import { expectOrder } from "../../../test/support/event-order.ts";
import { PlayedRun } from "../../../test/support/run-player.ts";
import {
  answerOf,
  historyOf,
  playToEnd,
  workflowRun,
} from "../../../test/support/workflow-run.ts";
import { graph } from "../../../test/support/workflow-graph.ts";
import { applyAll } from "../state/apply.ts";
import { initialState } from "../state/run-state.ts";

const inner = graph(
  { in: { type: "input" }, look: { type: "tool:search" }, out: { type: "output" } },
  "in -> look.q",
  "look -> out",
);

const whole = graph(
  {
    in: { type: "input", properties: { schema: { type: "array" } } },
    each: { type: "map", properties: { node_type: "tool:search", max_parallel: 2 } },
    find: { type: "agent:finder" },
    sum: { type: "code", properties: { code: "len(inputs['items'])" } },
    say: { type: "model", properties: { instructions: "Say it." } },
    ask: { type: "approval", properties: { question: "Go on?" } },
    wait: { type: "delay", properties: { seconds: 2 } },
    sub: { type: "workflow:inner" },
    all: { type: "merge", properties: { mode: "object" } },
    out: { type: "output" },
  },
  "in -> each.items",
  "in -> find.prompt",
  "in -> sum.items",
  "in -> say.prompt",
  "each -> ask.value",
  "ask.approved.value -> wait",
  "wait -> sub.input",
  "sub -> all",
  "find -> all",
  "sum -> all",
  "say -> all",
  "all -> out",
);

// Requirement: WF-2
test("a workflow whose worker is lost at any event has the same history", () => {
  const run = playToEnd(workflowRun(whole, { inner }, `["a","b","c"]`));
  expect(run.end).toBe("completed");
  expect(JSON.parse(answerOf(run))).toMatchObject({ sum: 7 });
  expectOrder(run.events);
  const prepared = run.events.findIndex(({ event }) => event.case === "runPrepared") + 1;
  for (let survived = prepared; survived < run.events.length; survived++) {
    const next = new PlayedRun({}, {}, run.events.slice(0, survived)).claimedAnew();
    playToEnd(next);
    expectOrder(next.events);
    expect(historyOf(next.events)).toEqual(historyOf(run.events));
    expect(applyAll(initialState, next.events)).toEqual(next.state);
  }
});
