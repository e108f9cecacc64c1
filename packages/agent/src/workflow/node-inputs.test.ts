import type { JsonValue } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { workflowOf } from "../../test/workflows.ts";
import type { NodeOutputs } from "./node-inputs.ts";
import { inputsOf } from "./node-inputs.ts";
import { nodeTypeOf } from "./node-catalog.ts";
import { topology } from "./topology.ts";

const skipped: NodeOutputs = new Map();
const gives = (handle: string, value: JsonValue): NodeOutputs => new Map([[handle, value]]);

const a = { id: "a", type: "code", properties: { code: "1" } };
const b = { id: "b", type: "code", properties: { code: "2" } };
const catalog = { tools: [], agents: [] };

/** Returns what the node `n` can do, with what is known of the others. */
function stateOf(
  n: { readonly type: string; readonly properties?: object },
  edges: readonly string[],
  known: Readonly<Record<string, NodeOutputs>>,
  source: Parameters<typeof workflowOf>[0][number] = a,
) {
  const node = { id: "n", ...n } as Parameters<typeof workflowOf>[0][number];
  const graph = topology(workflowOf([source, b, node], ...edges));
  const found = graph.nodes.get("n");
  if (found === undefined) throw new Error("the workflow has no node n");
  return inputsOf(found, graph, {
    typeOf: (each) => nodeTypeOf(each, catalog),
    outputsOf: (id) => known[id],
  });
}

const code = { type: "code", properties: { code: "3" } };
const merge = (mode: string) => ({ type: "merge", properties: { mode } });

describe("a node", () => {
  test("waits until all nodes before it have ended or were skipped", () => {
    const edges = ["a.result -> n.x", "b.result -> n.$after"];
    expect(stateOf(code, edges, { a: gives("result", 1) })).toEqual({ kind: "waiting" });
    const known = { a: gives("result", 1), b: gives("result", 2) };
    expect(stateOf(code, edges, known)).toEqual({ kind: "ready", inputs: { x: 1 } });
  });

  test.each(["a.result -> n.x", "a.result -> n.$after", "a -> n.$after", "a.stdout -> n.x"])(
    "is skipped if the edge %s has no value",
    (edge) => {
      expect(stateOf(code, [edge], { a: skipped })).toEqual({ kind: "skipped" });
    },
  );

  test("has inputs of any name", () => {
    const state = stateOf(code, ["a.result -> n.__proto__"], { a: gives("result", 1) });
    expect(state.kind === "ready" && Object.entries(state.inputs)).toEqual([["__proto__", 1]]);
  });

  test("that only waits for an output is skipped with it", () => {
    const output = { id: "a", type: "output" };
    const state = (known: NodeOutputs) => stateOf(code, ["a -> n.$after"], { a: known }, output);
    expect(state(skipped)).toEqual({ kind: "skipped" });
    expect(state(gives("value", 1))).toEqual({ kind: "ready", inputs: {} });
  });

  test("takes its constant for an edge that has no value, and the value of an edge otherwise", () => {
    const withDefault = { type: "code", properties: { code: "3", inputs: { x: 0 } } };
    const state = (known: NodeOutputs) => stateOf(withDefault, ["a.result -> n.x"], { a: known });
    expect(state(skipped)).toEqual({ kind: "ready", inputs: { x: 0 } });
    expect(state(gives("result", 5))).toEqual({ kind: "ready", inputs: { x: 5 } });
  });

  test("gets the part of a value that its edge names, and fails by its name if there is none", () => {
    const known = { a: gives("result", { items: [{ name: "pen" }] }) };
    const at = (path: string) => stateOf(code, [`a.result.${path} -> n.x`], known);
    expect(at("items.0.name")).toEqual({ kind: "ready", inputs: { x: "pen" } });
    for (const path of ["items.1.name", "items.length", "constructor", "items.-1"]) {
      expect(at(path)).toEqual({
        kind: "failed",
        problem: `node "n" has no input: the output "result" of node "a" has no part "${path}"`,
      });
    }
  });

  test.each<[string, NodeOutputs, NodeOutputs, object]>([
    ["first", skipped, gives("result", 2), { kind: "ready", inputs: { values: 2 } }],
    ["first", gives("result", 1), gives("result", 2), { kind: "ready", inputs: { values: 1 } }],
    ["list", skipped, gives("result", 2), { kind: "ready", inputs: { values: [2] } }],
    ["object", gives("result", 1), skipped, { kind: "ready", inputs: { values: { a: 1 } } }],
    ["list", skipped, skipped, { kind: "skipped" }],
  ])("that merges takes the values that exist: %s", (mode, ofA, ofB, expected) => {
    const edges = ["a.result -> n", "b.result -> n"];
    expect(stateOf(merge(mode), edges, { a: ofA, b: ofB })).toEqual(expected);
  });
});

test("the order of nodes follows the edges, and the workflow among those that are independent", () => {
  const nodes = ["d", "c", "b", "a"].map((id) => ({ id, type: "merge" }));
  const { order, cyclic } = topology(workflowOf(nodes, "a -> d", "b -> c", "x -> d"));
  expect(order).toEqual(["b", "a", "c", "d"]);
  expect(cyclic).toEqual([]);
});
