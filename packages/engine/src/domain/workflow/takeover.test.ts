import { expect, test } from "vitest";
import { expectOrder } from "../../../test/support/event-order.ts";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { recordedWorkflow } from "../../../test/support/workflow/recorded-workflow.ts";
import { answerOf, historyOf, playToEnd } from "../../../test/support/workflow/workflow-run.ts";
import { applyAll } from "../state/apply.ts";
import { initialState } from "../state/run-state.ts";

// Requirement: WF-2
test("a workflow whose worker is lost at any event has the same history", () => {
  const run = recordedWorkflow();
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
