import type { JsonValue } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { readFileSync } from "node:fs";
import { WorkflowSchema } from "@reeve/contracts/extensions/workflow";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { foldRun } from "../fold-run.ts";
import type { RunModel } from "../run-model.ts";
import { emptyRun } from "../run-model.ts";
import { nodeStates } from "./node-states.ts";
import { runGraphs } from "./run-graphs.ts";

const history = new URL("../../../../test/histories/0.3.0-workflow.json", import.meta.url);
const events = (JSON.parse(readFileSync(history, "utf8")) as JsonValue[]).map((json) =>
  fromJson(RunEventSchema, json, { ignoreUnknownFields: true }),
);

function runUpTo(sequence: number): RunModel {
  const run = emptyRun("run_test");
  for (const event of events) if (event.sequence <= sequence) foldRun(run, event);
  return run;
}

/** Returns how each node is doing, as text. */
function statesAt(sequence: number, at = 0): Readonly<Record<string, string>> {
  const run = runUpTo(sequence);
  const graph = runGraphs(run)[at];
  if (graph === undefined) return {};
  const states = [...nodeStates(run, graph)];
  return Object.fromEntries(
    states.map(([id, { name, detail }]) => [id, `${name} ${detail}`.trim()]),
  );
}

// Requirement: WF-2
test("the nodes of a run are done, running, or wait, as far as its log has come", () => {
  expect(statesAt(36)).toMatchObject({
    in: "done",
    each: "running 2 of 3",
    find: "done",
    check: "done",
    sum: "running",
    ask: "waiting",
    out: "waiting",
  });
  expect(statesAt(41)).toMatchObject({ each: "done 3 of 3", ask: "waiting for a decision" });
  expect(statesAt(47)).toMatchObject({ ask: "approved", wait: "done", sub: "running" });
  expect(new Set(Object.values(statesAt(Number.MAX_SAFE_INTEGER)))).toEqual(
    new Set(["done", "done 3 of 3", "approved"]),
  );
});

test("a workflow that a run calls has a graph of its own", () => {
  expect(statesAt(50, 1)).toEqual({ in: "done", look: "running", out: "waiting" });
  expect(statesAt(Number.MAX_SAFE_INTEGER, 1)).toEqual({ in: "done", look: "done", out: "done" });
});

test("nodes behind a branch that was not taken are skipped, and the node that failed says so", () => {
  const graph = create(WorkflowSchema, {
    nodes: [
      { id: "in", type: "input" },
      { id: "if", type: "condition", properties: { operator: "equals", operand: "yes" } },
      { id: "left", type: "tool:look" },
      { id: "right", type: "tool:look" },
      { id: "end", type: "output" },
    ],
    edges: [
      { source: "in", target: "if" },
      { source: "if", sourceHandle: "true", target: "left", targetHandle: "q" },
      { source: "if", sourceHandle: "false", target: "right", targetHandle: "q" },
      { source: "right", sourceHandle: "result", target: "end" },
    ],
  });
  const result = { callId: "c", content: "no such thing", isError: true };
  const run = emptyRun("run_1");
  for (const event of [
    { case: "runCreated" as const, value: { input: "no", spec: { workflow: graph } } },
    { case: "toolCall" as const, value: { callId: "c", name: "look", nodeId: "right" } },
    { case: "toolResult" as const, value: { result, success: false, error: "no such thing" } },
    { case: "error" as const, value: { message: 'node "right" failed: no such thing' } },
    { case: "status" as const, value: { status: RunStatus.ERROR } },
  ]) {
    foldRun(run, create(RunEventSchema, { sequence: 1, time: timestampFromMs(1_000), event }));
  }
  const [own] = runGraphs(run);
  const states = own === undefined ? [] : [...nodeStates(run, own)];
  expect(states.map(([id, { name, tone }]) => [id, name, tone])).toEqual([
    ["in", "done", "ok"],
    ["if", "done", "ok"],
    ["left", "skipped", "idle"],
    ["right", "failed", "bad"],
    ["end", "not reached", "idle"],
  ]);
});
