import { expect, test } from "vitest";
import {
  addEdge,
  addNode,
  changeEdge,
  changeNode,
  changeProperty,
  newGraph,
  reachedFrom,
  removeParts,
} from "./edit-graph.ts";

const edge = { source: "input", sourceHandle: "", target: "answer", targetHandle: "" };

test("a new node has an id of its own, after what it calls", () => {
  const [first, id] = addNode(newGraph(), "tool:read_file");
  const [second, another] = addNode(first, "tool:read_file");
  expect([id, another]).toEqual(["read_file", "read_file-2"]);
  expect(second.nodes.map((node) => node.id)).toEqual(["input", "answer", id, another]);
});

test("the edges of a node follow its new id, and go with it", () => {
  const renamed = changeNode(newGraph(), "input", { id: "start" });
  expect(renamed.edges[0]).toMatchObject({ source: "start", target: "answer" });
  const { nodes, edges } = removeParts(renamed, new Set(["start"]), new Set());
  expect(nodes.map(({ id }) => id)).toEqual(["answer"]);
  expect(edges).toEqual([]);
});

test("an edge is added once, changed, and removed", () => {
  expect(addEdge(newGraph(), edge).edges).toHaveLength(1);
  const graph = addEdge(newGraph(), { ...edge, targetHandle: "$after" });
  expect(changeEdge(graph, 1, { sourceHandle: "value" }).edges[1]).toMatchObject({
    sourceHandle: "value",
    targetHandle: "$after",
  });
  expect(removeParts(graph, new Set(), new Set([0])).edges).toHaveLength(1);
});

test("paths are found in the direction of the edges", () => {
  expect([...reachedFrom(newGraph(), "input")]).toEqual(["input", "answer"]);
  expect([...reachedFrom(newGraph(), "answer")]).toEqual(["answer"]);
});

test("a property without a value is removed", () => {
  const properties = changeProperty({ properties: { a: 1 } }, "b", [2]);
  expect(properties).toEqual({ a: 1, b: [2] });
  expect(changeProperty({ properties }, "a", undefined)).toEqual({ b: [2] });
});
