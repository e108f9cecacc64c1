import { buildWorkflowName, editorTools } from "@reeve/agent/workflow/building/editor-tools";
import { describe, expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";

const build = { name: buildWorkflowName, args: { objective: "count the words" } };
const finish = (nodes: readonly object[], edges: readonly object[] = []) => ({
  name: "finish_subtask",
  args: { nodes, edges },
});
const nodes = [
  { id: "in", type: "input" },
  { id: "count", type: "tool:search", properties: { inputs: { q: "x" } } },
  { id: "out", type: "output" },
];
const edges = [
  { source: "in", target: "count", target_handle: "text" },
  { source: "count", target: "out" },
];
const empty = finish([], []);
const broken = finish([...nodes, { id: "in", type: "tol" }], edges);

/** Returns a run of an editor that builds a workflow, and the id of its subtask. */
function building(spec = {}): [PlayedRun, string] {
  const tools = [{ name: "search" }, ...editorTools];
  const run = new PlayedRun(spec, { tools }).turn(build);
  return [run, run.subtasks[0] ?? ""];
}

// Requirement: WF-1
describe("build_workflow", () => {
  test("has a subtask plan a graph against the node types, and returns it", () => {
    const [run, child] = building();
    const [{ text = "" } = {}] = run.prompt(child) as readonly { readonly text?: string }[];
    expect(text).toContain("count the words");
    expect(text).toContain('{"id":"condition"');
    expect(text).toContain("- tool:search(");
    expect(text).not.toContain("tool:build_workflow");
    expect([...run.frame(child).tools.keys()]).toEqual(["finish_subtask"]);
    run.turnIn(child, [finish(nodes, edges)]);
    const { result } = run.all("toolResult").at(-1) ?? {};
    expect(result).toMatchObject({ name: "build_workflow", isError: false });
    expect(result?.structured).toEqual({ nodes, edges });
  });

  test("gives all violations back, at most three times", () => {
    const [run, child] = building();
    for (const wrong of [broken, empty, broken]) run.turnIn(child, [wrong]);
    const [first] = run.resultsSeen(child);
    expect(first).toContain("workflow.nodes[3].id: another node has the id");
    expect(first).toContain('workflow.nodes[3].type: node type "tol" does not exist');
    run.turnIn(child, [finish(nodes, edges)]);
    expect(run.all("toolResult").at(-1)?.result?.isError).toBe(false);

    const [stubborn, other] = building();
    for (const wrong of [broken, broken, broken, broken]) stubborn.turnIn(other, [wrong]);
    expect(stubborn.all("subtask").at(-1)).toMatchObject({
      ended: true,
      error: "schema_not_satisfied",
    });
    expect(stubborn.all("toolResult").at(-1)?.result?.isError).toBe(true);
  });

  test("counts as a subtask in the budgets of the run", () => {
    const [run] = building({ budgets: { maxSubtasks: 0 } });
    expect(run.subtasks).toEqual([]);
  });
});

// Requirement: CHAT-2
test("search_nodes returns the types that match, with their inputs", () => {
  const run = new PlayedRun({}, { tools: [{ name: "search" }, ...editorTools] });
  run.turn({ name: "search_nodes", args: { query: "search", limit: 1 } });
  expect(JSON.parse(run.resultsSeen()[0] ?? "")).toMatchObject({
    node_types: [{ id: "tool:search" }],
  });
});
