import { retryOf } from "../../../src/domain/retry/retry-of.ts";
import { fact, rootScope } from "../../../src/domain/state/fact.ts";
import { inheritedCalls } from "../../../src/domain/workflow/inherited-calls.ts";
import { PlayedRun } from "../run-player.ts";
import { graph } from "./workflow-graph.ts";
import { ends, playToEnd, workflowRun } from "./workflow-run.ts";

const search = { type: "tool:search" };
const workflow = graph(
  { in: { type: "input" }, first: search, second: search, out: { type: "output" } },
  "in -> first.q",
  "first -> second.q",
  "second -> out",
);

/** A run that continues a workflow whose second node failed: it inherits the call of the first. */
export function recordedContinuation(): PlayedRun {
  const failed = workflowRun(workflow);
  ends(failed, "first", { content: "found" });
  ends(failed, "second", { content: "no such thing", isError: true });
  // Every played run has one id, and a run does not continue itself.
  const head = { ...failed.state.head, runId: "run_before" };
  if (head.created === undefined) throw new Error("the run was not created");
  const before = { ...failed.state, head };
  const created = retryOf(before, head.created, failed.events);
  const tools = head.prepared?.tools ?? [];
  const run = new PlayedRun(created.spec, { tools, created });
  const calls = inheritedCalls(run.state, before);
  const complete = { runId: head.runId, isComplete: true, calls: calls.length };
  run.append([...calls.flat(), fact(rootScope, { case: "workflowContinued", value: complete })]);
  return playToEnd(run);
}
