import { expect, test } from "vitest";
import { sortProblems } from "./sort-problems.ts";

test("each problem belongs to its node, its edge, or the rest of the spec", () => {
  const sorted = sortProblems([
    { field: "workflow.nodes[1].properties.code", message: "is required" },
    { field: "workflow.nodes[1].type", message: "unknown" },
    { field: "workflow.edges[12]", message: "a cycle" },
    { field: "model", message: "not found" },
  ]);
  expect(sorted.nodes.get(1)).toEqual([
    { field: "properties.code", message: "is required" },
    { field: "type", message: "unknown" },
  ]);
  expect(sorted.edges.get(12)).toEqual([{ field: "", message: "a cycle" }]);
  expect(sorted.others).toEqual([{ field: "model", message: "not found" }]);
});
