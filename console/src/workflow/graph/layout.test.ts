import { create } from "@bufbuild/protobuf";
import { nodeTypeOf } from "@reeve/agent/workflow/node-catalog";
import { WorkflowSchema } from "@reeve/contracts/extensions/workflow";
import { expect, test } from "vitest";
import { placesOf } from "./layout.ts";
import { portsOf, wholeHandle } from "./node-ports.ts";

const graph = create(WorkflowSchema, {
  nodes: [
    { id: "start", type: "input" },
    { id: "ask", type: "model" },
    { id: "end", type: "output" },
    { id: "odd", type: "no-such-type" },
  ],
  edges: [
    { source: "start", target: "ask" },
    { source: "start", sourceHandle: "value.name", target: "ask", targetHandle: "name" },
    { source: "ask", target: "end", targetHandle: "$after" },
    { source: "ask", sourceHandle: "result", target: "missing" },
  ],
});
const typeOf = (node: Parameters<typeof nodeTypeOf>[0]) =>
  nodeTypeOf(node, { tools: [], agents: [] });

test("a node has the connectors of its type, and those that edges name", () => {
  const ports = portsOf(graph, typeOf);
  const handles = (id: string) => ports.get(id)?.inputs.map(({ handle }) => handle);
  expect(handles("ask")).toEqual(["prompt", "name"]);
  expect(handles("end")).toEqual(["value"]);
  expect(ports.get("end")?.inputs[0]?.isMissing).toBe(true);
  expect(ports.get("ask")?.inputs[0]?.isMissing).toBe(false);
  // The output for errors exists only with `on_error: continue`.
  expect(ports.get("ask")?.outputs.map(({ handle }) => handle)).toEqual(["result"]);
  expect(ports.get("ask")?.outputs.some(({ handle }) => handle === wholeHandle)).toBe(false);
  expect(ports.get("odd")?.inputs).toEqual([]);
});

test("edges lead to the right, and no two nodes share a place", () => {
  const places = placesOf(graph, portsOf(graph, typeOf));
  const x = (id: string) => places.get(id)?.x ?? Number.NaN;
  expect(x("start")).toBeLessThan(x("ask"));
  expect(x("ask")).toBeLessThan(x("end"));
  expect(new Set([...places.values()].map((place) => JSON.stringify(place))).size).toBe(4);
});
