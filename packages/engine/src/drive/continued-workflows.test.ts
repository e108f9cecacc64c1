import { create } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunCreatedSchema, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { ApprovalState } from "@reeve/contracts/approval";
import { emptyTail } from "@reeve/jetstream/log/port";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { outputOf } from "@reeve/run/head/run-of";
import { storedTreeOf } from "@reeve/run/tree/fit-tree";
import { expect, test } from "vitest";
import { retryOf } from "../domain/retry/retry-of.ts";
import { expectOrder } from "../../test/support/event-order.ts";
import { countingModel } from "../../test/support/models.ts";
import type { PlayedRun } from "../../test/support/run-player.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";
import { graph } from "../../test/support/workflow/workflow-graph.ts";
import { ends, errorOf, historyOf, workflowRun } from "../../test/support/workflow/workflow-run.ts";

const never = new AbortController().signal;
/** Longer than what the result of an agent has of its answer. */
const long = "a long answer ".repeat(5_000);

/** A workflow with a tool, an agent, an approval, and a map, of which an item failed. */
function failedRun(): PlayedRun {
  const search = { type: "tool:search" };
  const items = { node_type: "tool:search", inputs: { items: [1, 2, 3] }, max_parallel: 3 };
  const workflow = graph(
    {
      in: { type: "input" },
      look: search,
      ask: { type: "agent:finder" },
      ok: { type: "approval", properties: { question: "Go on?" } },
      each: { type: "map", properties: items },
      sum: { type: "merge", properties: { mode: "object" } },
      out: { type: "output" },
    },
    "in -> look.q",
    "look.result -> ask.prompt",
    "look.result -> ok.value",
    "ok.approved -> each.$after",
    "ask.result -> sum.values",
    "ok.approved.comment -> sum.values",
    "each.results -> sum.values",
    "sum -> out",
  );
  const run = workflowRun(workflow);
  // Its facts fill a batch.
  ends(run, "look", { content: "found ".repeat(20_000) });
  const frames = [...run.state.frames.values()];
  const child = frames.find(({ delegate }) => delegate !== undefined)?.id ?? "";
  run.says(long, child).turnIn(child);
  run.parks().decides(ApprovalState.APPROVED, { reason: "fine" }).claimedAnew();
  ends(run, "each", { content: "one" });
  ends(run, "each 1", { content: "no such thing", isError: true });
  if (run.end === undefined) ends(run, "each 2", { content: "three" });
  expect(errorOf(run)).toContain('node "each" failed: item 1');
  return run;
}

/** Returns a worker's bench with what the log has of the failed run, and the run that continues it. */
async function continuing(failed: PlayedRun, log = failed.events): Promise<WorkerBench> {
  const { head } = failed.state;
  if (head.created === undefined) throw new Error("the run was not created");
  const bench = new WorkerBench(countingModel(0)).offers({
    name: "search",
    source: "builtin",
    permissionClass: 1,
    inputSchema: { type: "object", properties: { q: {} } },
  });
  const origin = { tenant: key.tenant, run: head.runId };
  if (log.length > 0) await bench.log.append(origin, emptyTail, log, never);
  const value = create(RunCreatedSchema, {
    ...retryOf(failed.state, head.created, failed.events),
    tenant: key.tenant,
  });
  for (const { spec } of [value, ...value.delegates]) if (spec) spec.model = "test:x";
  const event = { case: "runCreated", value } as const;
  const created = create(RunEventSchema, { runId: key.run, sequence: 1, event });
  await bench.log.append(key, emptyTail, [created], never);
  return bench;
}

const callsOf = (events: readonly RunEvent[]) =>
  events.flatMap(({ event }) => {
    if (event.case !== "toolCall") return [];
    const { nodeId, itemIndex, inheritedFrom } = event.value;
    return [`${nodeId} ${itemIndex}${inheritedFrom === "" ? "" : " inherited"}`];
  });

// Requirement: WF-2
test("a run continues a failed workflow at the node that failed", async () => {
  const failed = failedRun();
  const bench = await continuing(failed);
  await bench.drive("w1");
  const events = await bench.events();
  expectWhole(events, RunStatus.COMPLETED);
  expectOrder(events);
  expect(callsOf(events)).toEqual([
    "look 0 inherited",
    "ok 0 inherited",
    "ask 0 inherited",
    "each 0 inherited",
    "each 2 inherited",
    "each 1",
    "out 0",
  ]);
  const head = foldHead(emptyHead, events);
  const answer: unknown = JSON.parse(outputOf(head));
  expect(answer).toEqual({ ask: long, ok: "fine", each: ["one", "1", "three"] });
  // Only what the run has done itself counts; its tree has all.
  expect(head.spent).toMatchObject({ toolCalls: 1, llmCalls: 0, costUsd: 0 });
  expect(bench.executed).toHaveLength(1);
  const nodes = storedTreeOf(head.tree).nodes.map(({ nodeId }) => nodeId);
  expect(nodes).toEqual(expect.arrayContaining(["look", "ask", "ok", "each"]));
});

// Requirement: DUR-3
test("a run that continues a workflow has the same history wherever its worker is lost", async () => {
  const failed = failedRun();
  const whole = await continuing(failed);
  await whole.drive("w1");
  const { events: history, batchTails } = await whole.log.read(key, emptyTail, never);
  expect(batchTails.length).toBeGreaterThan(4);
  for (const { sequence } of batchTails.slice(0, -1)) {
    const bench = await continuing(failed);
    const { tail } = await bench.log.read(key, emptyTail, never);
    const rest = history.slice(1, sequence);
    if (rest.length > 0) await bench.log.append(key, tail, rest, never);
    await bench.drive("w2");
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(historyOf(events)).toEqual(historyOf(history));
  }
});

test("a run ends if the run that it continues was deleted", async () => {
  const failed = failedRun();
  const bench = await continuing(failed, []);
  await bench.drive("w1");
  const head = foldHead(emptyHead, await bench.events());
  expect(head.status).toBe(RunStatus.ERROR);
  expect(head.error?.message).toContain("was deleted");
  expect(bench.executed).toEqual([]);
});
