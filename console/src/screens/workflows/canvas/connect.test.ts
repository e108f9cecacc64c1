import { create } from "@bufbuild/protobuf";
import { nodeTypeOf } from "@reeve/agent/workflow/node-catalog";
import { WorkflowSchema } from "@reeve/contracts/extensions/workflow";
import { expect, test } from "vitest";
import { otherHandle, portsOf, wholeHandle } from "../../../workflow/graph/node-ports.ts";
import { edgeOf, whyNotConnect } from "./connect.ts";

const graph = create(WorkflowSchema, {
  nodes: [
    { id: "start", type: "input" },
    { id: "sum-up", type: "code", properties: { code: "1" } },
    { id: "join", type: "merge" },
    { id: "end", type: "output" },
  ],
  edges: [
    { source: "start", target: "sum-up", targetHandle: "start" },
    { source: "sum-up", sourceHandle: "result", target: "join" },
    { source: "join", target: "end" },
  ],
});
const typeOf = (node: Parameters<typeof nodeTypeOf>[0]) =>
  nodeTypeOf(node, { tools: [], agents: [] });
const ports = portsOf(graph, typeOf);
const drawn = (source: string, sourceHandle: string, target: string, targetHandle: string) =>
  edgeOf({ source, sourceHandle, target, targetHandle }, ports);
const why = (...ends: Parameters<typeof drawn>) => whyNotConnect(graph, drawn(...ends), typeOf);

test("a connection to a new input names it after its source", () => {
  expect(drawn("start", "value", "sum-up", otherHandle).targetHandle).toBe("start_2");
});

test("from a node as a whole, an edge only makes its target wait", () => {
  expect(drawn("start", wholeHandle, "end", "value")).toMatchObject({
    sourceHandle: "",
    targetHandle: "$after",
  });
});

test("says why an edge cannot close a cycle, or lead to an input that has one, unless it takes several", () => {
  expect(why("end", wholeHandle, "start", "$after")).toBe(
    "An edge from end to start would make a cycle.",
  );
  expect(why("start", "value", "end", "value")).toBe(
    "end.value has an edge already. Remove it first.",
  );
  expect(why("start", "value", "join", "values")).toBeUndefined();
  expect(why("start", wholeHandle, "end", "$after")).toBeUndefined();
});
