import { ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { graph } from "../../../test/support/workflow/workflow-graph.ts";
import {
  answerOf,
  ends,
  playToEnd,
  workflowRun,
} from "../../../test/support/workflow/workflow-run.ts";
import { retryOf } from "../retry/retry-of.ts";
import { fact, rootScope } from "../state/fact.ts";
import { inheritedCalls } from "./inherited-calls.ts";

const search = { type: "tool:search" };
const workflow = graph(
  {
    in: { type: "input" },
    first: search,
    ok: { type: "approval", properties: { question: "Go on?" } },
    second: search,
    third: search,
    both: { type: "merge", properties: { mode: "object" } },
    out: { type: "output" },
  },
  "in -> first.q",
  "first.result -> ok.value",
  "ok.approved -> second.$after",
  "first.result -> second.q",
  "second.result -> third.q",
  "ok.approved.comment -> both.values",
  "third.result -> both.values",
  "both -> out",
);

/** Returns the run that continues a failed one, with its calls. */
function continuing(failed: PlayedRun, runId: string): PlayedRun {
  const { head } = failed.state;
  if (head.created === undefined) throw new Error("the run was not created");
  const created = retryOf(failed.state, head.created, failed.events);
  const run = new PlayedRun(created.spec, { tools: head.prepared?.tools ?? [], created });
  run.state = { ...run.state, head: { ...run.state.head, runId } };
  const calls = inheritedCalls(run.state, failed.state);
  const complete = { runId: head.runId, isComplete: true, calls: calls.length };
  return run.append([
    ...calls.flat(),
    fact(rootScope, { case: "workflowContinued", value: complete }),
  ]);
}

const sourcesOf = (run: PlayedRun) =>
  run.all("toolCall").map(({ nodeId, inheritedFrom }) => [nodeId, inheritedFrom]);

// Requirement: WF-2
test("a run that continues a continued workflow names the run that made each call", () => {
  const first = workflowRun(workflow);
  ends(first, "first", { content: "found" });
  first.parks().decides(ApprovalState.APPROVED, { reason: "fine" }).claimedAnew();
  ends(first, "second", { content: "no such thing", isError: true });
  const second = continuing(first, "run_second");
  ends(second, "second", { content: "found too" });
  ends(second, "third", { content: "no such thing", isError: true });
  expect(second.end).toBe("error");
  const third = playToEnd(continuing(second, "run_third"));
  expect(sourcesOf(third)).toMatchObject([
    ["first", "run_test"],
    ["ok", "run_test"],
    ["second", "run_second"],
    ["third", ""],
    ["out", ""],
  ]);
  const results = third
    .all("toolResult")
    .map(({ result }) => result?.metadata?.inheritedFrom ?? "");
  expect(results.slice(0, 3)).toEqual(["run_test", "run_test", "run_second"]);
  expect(answerOf(third)).toContain(`"ok":"fine"`);
});
