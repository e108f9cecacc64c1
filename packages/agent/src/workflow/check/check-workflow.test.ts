import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { WorkflowSchema } from "@reeve/contracts/extensions/workflow";
import { describe, expect, test } from "vitest";
import { PermissionClass, ToolCatalogSchema } from "@reeve/contracts/tool";
import { check } from "../../../test/check.ts";
import { offer, tool } from "../../../test/offer.ts";
import { graphViolations, workflowOf } from "../../../test/workflows.ts";
import { nodeTypeOf } from "../node-catalog.ts";
import { checkContext } from "./check-context.ts";
import { checkEdges } from "./check-edges.ts";
import { fitProblem, typeReader } from "./type-fit.ts";

const input = { id: "in", type: "input" };
const read = { id: "read", type: "tool:read_file" };
const output = { id: "out", type: "output" };
const condition = (properties: JsonObject) => ({
  id: "if",
  type: "condition",
  properties: { inputs: { value: 1 }, ...properties },
});
const request = (properties: JsonObject = {}) =>
  workflowOf([{ id: "n", type: "http", properties: { inputs: { url: "a" }, ...properties } }]);
const code = (properties: JsonObject) => ({ id: "n", type: "code", properties });

// Requirement: WF-1
describe("a workflow", () => {
  test("is valid if its nodes exist, and edges or constants give them what they need", () => {
    const workflow = workflowOf(
      [
        input,
        read,
        { id: "sum", type: "code", properties: { code: "1" } },
        { id: "ask", type: "model", properties: { instructions: "Answer." } },
        { id: "each", type: "map", properties: { node_type: "tool:grep" } },
        { id: "ok", type: "approval", properties: { question: "Go on?" } },
        { id: "wait", type: "delay", properties: { seconds: 5 } },
        output,
      ],
      "in -> read.path",
      "in -> sum.text",
      "read.result.lines -> each.items",
      "each -> ask.prompt",
      "sum.stdout -> ask.more",
      "ask.result -> ok",
      "ok.approved.value -> wait",
      "ok.rejected -> read.$after",
      "wait -> out",
    );
    const acyclic = { ...workflow, edges: workflow.edges.filter((each) => each.target !== "read") };
    expect(graphViolations(acyclic, { permissionClasses: ["execute"] })).toEqual([]);
  });

  test("sends requests with http_request unless a node names another tool", () => {
    const { violations } = check({ workflow: request() });
    expect(violations).toMatchObject([
      {
        field: "workflow.nodes[0].type",
        description: expect.stringMatching(/"http_request": .*set REEVE_NETWORK_ALLOW/) as string,
      },
    ]);
    expect(graphViolations(request({ tool: "http_reqest" }))).toEqual([
      "nodes[0].properties.tool: TOOL_NOT_FOUND",
    ]);
    const web = tool("http_request", {
      permissionClass: PermissionClass.NETWORK,
      inputSchema: { type: "object", properties: { url: {} }, required: ["url"] },
    });
    const tools = [...offer.tools, create(ToolCatalogSchema, { tools: [web] })];
    const reasons = (permissionClasses: string[]) =>
      check({ workflow: request(), permissionClasses }, { ...offer, tools }).violations;
    expect(reasons(["network"])).toEqual([]);
    expect(reasons([])).toMatchObject([
      { description: expect.stringMatching(/add network to permission_classes/) as string },
    ]);
  });

  test("is refused with all of its problems at once, each with its path", () => {
    const workflow = workflowOf(
      [
        input,
        input,
        read,
        { id: "a", type: "tool" },
        { id: "b", type: "tol" },
        { id: "c", type: "tool:write_file", properties: { tool: "x", inputs: { path: 3 } } },
        { id: "d", type: "agent:stranger" },
        { id: "e", type: "media" },
        { id: "f", type: "map", properties: { node_type: "delay", max_items: 1_000_000 } },
        output,
      ],
      "read -> read.path",
      "in -> out",
      "in.nothing -> out",
      "ghost -> out.value",
      "a.result -> c.path",
      "c.error -> a.x",
    );
    expect(new Set(graphViolations(workflow))).toEqual(
      new Set([
        "nodes[1].id: DUPLICATE_NODE_ID",
        "nodes[1].type: MULTIPLE_INPUTS",
        "nodes[3].properties.tool: REQUIRED",
        "nodes[4].type: UNKNOWN_NODE_TYPE",
        "nodes[5].properties.tool: UNKNOWN_PROPERTY",
        "nodes[5].properties.inputs.path: TYPE_MISMATCH",
        "nodes[6].type: AGENT_NOT_FOUND",
        "nodes[6].properties.inputs.prompt: MISSING_INPUT",
        "nodes[7].type: UNIMPLEMENTED",
        "nodes[7].properties.inputs.prompt: MISSING_INPUT",
        "nodes[8].properties.node_type: UNKNOWN_NODE_TYPE",
        "nodes[8].properties.max_items: MALFORMED",
        "nodes[8].properties.inputs.items: MISSING_INPUT",
        "edges[0]: SELF_LOOP",
        "edges[2].source_handle: UNKNOWN_HANDLE",
        "edges[2].target_handle: INPUT_TAKEN",
        "edges[3].source: UNKNOWN_NODE",
        "edges[5].source_handle: UNKNOWN_HANDLE",
        "edges[4]: CYCLE",
      ]),
    );
  });

  test.each([
    ["a cycle, also behind a self-loop", "a -> a.x", "b -> c.x", "c -> b.x", "a -> b.y"],
    ["a cycle of two", "a -> b.x", "b -> a.x"],
  ])("is refused for %s", (_, ...edges) => {
    const nodes = ["a", "b", "c"].map((id) => ({ id, type: "tool:read_file" }));
    const { violations } = check({ workflow: workflowOf(nodes, ...edges) });
    expect(violations.find(({ reason }) => reason === "CYCLE")?.description).toMatch(
      /the nodes would wait for each other: (b → c → b|c → b → c|a → b → a|b → a → b)/,
    );
  });

  test.each([
    ["an empty graph", workflowOf([]), "nodes"],
    ["10,000 nodes", workflowOf(many(10_000)), "nodes"],
    ["3,000 edges", workflowOf([input, output], ...Array(3_000).fill("in -> out")), "edges"],
  ])("is refused for %s", (_, workflow, field) => {
    const violations = graphViolations(workflow);
    expect(violations).toEqual([expect.stringContaining(field)]);
  });

  test.each<[string, Parameters<typeof workflowOf>[0][number], string]>([
    ["no operand", condition({ operator: "equals" }), "nodes[0].properties.operand: MALFORMED"],
    [
      "a pattern that is not matched in linear time",
      condition({ operator: "matches", operand: "(?=a)" }),
      "nodes[0].properties.operand: MALFORMED",
    ],
    [
      "an unknown operator",
      condition({ operator: "is", operand: 1 }),
      "nodes[0].properties.operator: MALFORMED",
    ],
    ["code without the class", code({ code: "1" }), "nodes[0].properties.code: TOOL_NOT_FOUND"],
    [
      "a schema that is none",
      { id: "in", type: "input", properties: { schema: { type: "nothing" } } },
      "nodes[0].properties.schema: MALFORMED",
    ],
    [
      "a tool that the agent excludes",
      { id: "g", type: "tool", properties: { tool: "grep" } },
      "nodes[0].properties.tool: TOOL_NOT_FOUND",
    ],
  ])("is refused for a node with %s", (_, node, violation) => {
    const workflow = workflowOf([node]);
    expect(graphViolations(workflow, { excludedTools: ["grep"] })).toEqual([violation]);
  });

  test("is refused for an edge whose value never fits, and not for one whose value may fit", () => {
    const nodes = [
      input,
      { id: "each", type: "map", properties: { node_type: "tool:grep" } },
      read,
    ];
    const fits = workflowOf(nodes, "in -> each.items", "in -> read.path");
    expect(graphViolations(fits)).toEqual([]);
    const list = workflowOf(nodes, "in -> each.items", "each.results -> read.path");
    expect(graphViolations(list)).toEqual(["edges[1].target_handle: TYPE_MISMATCH"]);
    const part = workflowOf(nodes, "in -> each.items", "each.results.0 -> read.path");
    expect(graphViolations(part)).toEqual([]);
  });

  test("has the outputs that the provider of a tool describes", () => {
    const properties = { name: { type: "string" }, lines: { type: "array" } };
    const provided = tool("crm__customer", {
      title: "Customer",
      source: "provider:crm",
      costHint: "model",
      outputSchema: { type: "object", properties },
    });
    const catalog = create(ToolCatalogSchema, { tools: [provided, tool("read_file")] });
    const node = { id: "who", type: "tool:crm__customer" };
    const known = { tools: catalog.tools, agents: [] };
    const context = { catalog: known, excluded: new Map(), delegates: [] };
    expect(nodeTypeOf(node, known)).toMatchObject({
      title: "Customer",
      costHint: "model",
      outputs: [{ handle: "result", schema: { properties } }, { handle: "error" }],
    });
    const workflow = workflowOf(
      [node, read, { ...read, id: "again" }],
      "who.result.name -> read.path",
      "who.result.lines -> again.path",
    );
    expect(checkEdges(workflow, checkContext(context))).toMatchObject([
      { field: "workflow.edges[1].target_handle", reason: "TYPE_MISMATCH" },
    ]);
  });

  test("has inputs with names that every language and log can have", () => {
    const named = code({ code: "1", inputs: { "a.b": 1, "a b": 2 } });
    const workflow = workflowOf([input, named], "in -> n.__proto__", "in -> n.constructor");
    expect(graphViolations(workflow, { permissionClasses: ["execute"] })).toEqual([
      "nodes[1].properties.inputs.a.b: MALFORMED",
      "edges[0].target_handle: MALFORMED",
    ]);
  });

  test("needs a model exactly if a node calls it, and contradicts a plan and a schema of the answer", () => {
    const plain = workflowOf([input, output], "in -> out");
    const asks = workflowOf([{ id: "m", type: "model", properties: { inputs: { prompt: "Hi" } } }]);
    expect(graphViolations(plain, { model: "" })).toEqual([]);
    expect(graphViolations(asks, { model: "" })).toEqual(["model: STRING_MIN_LEN"]);
    expect(graphViolations(asks)).toEqual([]);
    const contradicting = { planningEnabled: true, outputSchema: { type: "object" } } as const;
    expect(graphViolations(plain, contradicting)).toEqual([
      "planning_enabled: UNSUPPORTED_CAPABILITY",
      "output_schema: UNSUPPORTED_CAPABILITY",
    ]);
    expect(check({ model: "" }).violations).toMatchObject([{ field: "model" }]);
  });
});

test("a workflow of the contract is checked quickly, whatever its shape is", () => {
  const nodes = Array.from({ length: 500 }, (_, n) => ({ id: `n${n}`, type: "merge" }));
  const edges = Array.from({ length: 2_000 }, (_, n) => ({
    source: `n${n % 500}`,
    target: `n${(n * 7 + 1) % 500}`,
  }));
  expect(graphViolations(create(WorkflowSchema, { nodes, edges }))).not.toEqual([]);
});

test("the work of a check is bounded, whatever names and schemas a workflow has", () => {
  const patterns = Array.from({ length: 2_000 }, (_, n) => [longName(n), { pattern: `a${n}` }]);
  const schema = { type: "object", properties: Object.fromEntries(patterns) as JsonObject };
  const nodes = Array.from({ length: 500 }, (_, n) => ({ id: longName(n), type: "merge" }));
  const input = { id: "in", type: "input", properties: { schema } };
  const edges = Array.from({ length: 2_000 }, (_, n) => `${longName(n)}y -> ${longName(n)}z`);
  const { violations } = check({ workflow: workflowOf([input, ...nodes.slice(1)], ...edges) });
  const suggestions = violations.filter(({ description }) => description.includes("did you mean"));
  expect(suggestions).toHaveLength(20);
  expect(violations).toContainEqual(
    expect.objectContaining({ field: "workflow.nodes[0].properties.schema", reason: "TOO_LARGE" }),
  );
});

test("a schema that refers to itself in many ways is read once", () => {
  const names = Array.from({ length: 110 }, (_, n) => `d${n}`);
  const anyOf = names.map((name) => ({ $ref: `#/$defs/${name}` }));
  const schema: JsonObject = {
    $defs: Object.fromEntries(names.map((name) => [name, { anyOf }])),
    anyOf,
  };
  const typesOf = typeReader(1_000);
  expect(fitProblem(schema, { type: "string" }, typesOf)).toBeUndefined();
  const either = {
    anyOf: [{ $ref: "#/$defs/n" }, { $ref: "#/$defs/n" }],
    $defs: { n: { const: 1 } },
  };
  expect(fitProblem(either, { type: "string" }, typesOf)).toBe("integer is not string");
  expect(fitProblem(either, { type: "string" }, typeReader(1))).toBeUndefined();
});

function longName(n: number): string {
  return `${"x".repeat(50)}${n}`;
}

function many(count: number) {
  return Array.from({ length: count }, (_, n) => ({ id: `n${n}`, type: "merge" }));
}
