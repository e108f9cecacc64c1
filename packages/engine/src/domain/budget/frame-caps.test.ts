import { expect, test } from "vitest";
import { ask, delegatingRun } from "../../../test/support/delegating-run.ts";
import { parallelCallLimit } from "../calls/outgoing-calls.ts";
import { resultBytesIn } from "./frame-caps.ts";

// Requirement: BUD-1
test("the limits of a delegate on results and on parallel calls hold within those of the run", () => {
  const budgets = { maxParallel: 2, maxResultBytes: 2_000 };
  const run = delegatingRun({}, { spec: { budgets } }, { spec: { budgets: { maxParallel: 50 } } });
  run.turn(ask("finder"));
  const [finder = ""] = run.subtasks;
  run.turnIn(finder, [ask("checker")]);
  const limits = ["", ...run.subtasks].map((id) => {
    const frame = run.frame(id);
    return [parallelCallLimit(run.state, frame), resultBytesIn(run.state, frame)];
  });
  expect(limits).toEqual([
    [8, 50_000],
    [2, 2_000],
    [2, 2_000],
  ]);
});
