import { expect, test } from "vitest";
import { graph } from "../../../test/support/workflow/workflow-graph.ts";
import {
  answerOf,
  ends,
  errorOf,
  workflowRun,
} from "../../../test/support/workflow/workflow-run.ts";
import { bytesOf, fact, rootScope } from "../state/fact.ts";

const digits = Array.from({ length: 110_000 }, () => 0);
const input = { type: "input", properties: { schema: { type: "array" } } };
const output = { type: "output" };

// Requirement: WF-2
test("a list that is small as JSON and large in the log fails its node, not the run", () => {
  const search = { type: "tool:search", properties: { on_error: "continue" } };
  const steps = graph({ in: input, s: search, out: output }, "in -> s.q", "s.error -> out");
  const run = workflowRun(steps, {}, JSON.stringify(digits));
  expect(run.end).toBe("completed");
  expect(answerOf(run)).toContain("bytes in the log; the limit is 524288");
});

// Requirement: WF-2
test("an answer that is too large for the log is the failure of its workflow", () => {
  const steps = graph({ in: input, s: { type: "tool:search" }, out: output }, "s -> out");
  const run = workflowRun(steps, {}, "[]");
  ends(run, "s", { structured: { list: digits } });
  expect(run.end).toBe("error");
  expect(errorOf(run)).toContain("the answer of the workflow takes");
  const sizes = run
    .all("toolCall")
    .map((value) => bytesOf(fact(rootScope, { case: "toolCall", value })));
  expect(Math.max(...sizes)).toBeLessThan(524_288);
});
