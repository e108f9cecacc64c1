import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { tool } from "../../test/offer.ts";
import { nodeOf, workflowOf } from "../../test/workflows.ts";
import { answerOf, outputsOfResult } from "./call-outputs.ts";
import { conditionHolds } from "./condition.ts";
import { mapCalls } from "./map-calls.ts";
import { callOf } from "./node-call.ts";
import { targetOf } from "./node-target.ts";
import { pureOutcome } from "./pure-node.ts";

/** Returns the call of a node. */
function called(type: string, inputs: JsonObject, properties: JsonObject = {}) {
  const node = nodeOf({ id: "n", type, properties });
  const target = targetOf(node);
  return target && callOf(target, node, inputs);
}

const map = (properties: JsonObject) =>
  nodeOf({ id: "m", type: "map", properties: { node_type: "tool:grep", ...properties } });

const outcome = (properties: JsonObject, message: string) =>
  pureOutcome(nodeOf({ id: "in", type: "input", properties }), {}, message);

const outputs = (result: JsonValue) =>
  outputsOfResult({ kind: "code", name: "" }, { content: "", structured: { result, stdout: "p" } });

describe("a node calls", () => {
  test.each<[string, JsonObject, JsonObject, string, JsonObject]>([
    ["tool:grep", {}, { path: "a" }, "grep", { path: "a" }],
    ["tool", { tool: "grep" }, { path: "a" }, "grep", { path: "a" }],
    ["agent:x", {}, { prompt: "Go", n: [1] }, "agent_run_x", { prompt: "Go\n\nn:\n[1]" }],
    ["workflow:x", {}, { input: { n: 1 } }, "agent_run_x", { prompt: '{"n":1}' }],
    [
      "model",
      { instructions: "Be brief." },
      { prompt: "Hi" },
      "run_subtask",
      { title: "n", instructions: "Be brief.\n\nHi", tools: [] },
    ],
    [
      "code",
      { code: "x", timeout: 2 },
      { a: [null, true, "ü\n", { b: 1.5 }] },
      "execute_code",
      { code: 'inputs = {"a": [None, True, "ü\\n", {"b": 1.5}]}\nx', timeout: 2 },
    ],
  ])("%s with %j", (type, properties, inputs, name, args) => {
    expect(called(type, inputs, properties)).toEqual({ tool: name, args });
  });

  test("nothing if it only decides", () => {
    expect(called("condition", { value: 1 })).toBeUndefined();
    expect(targetOf({ type: "toString" })).toBeUndefined();
    expect(targetOf({ type: "condition:x" })).toBeUndefined();
  });

  test("a tool for each item of a list of limited length", () => {
    const grep = create(ToolDescriptorSchema, {
      ...tool("grep"),
      inputSchema: {
        type: "object",
        properties: { pattern: { type: "string" }, path: { type: "string" } },
        required: ["pattern"],
      },
    });
    const catalog = { tools: [grep], agents: [] };
    const planned = mapCalls(map({}), { items: ["a", "b"], path: "x" }, catalog);
    expect(planned).toMatchObject({ kind: "calls", count: 2 });
    expect(planned.kind === "calls" && [planned.callAt(0), planned.callAt(1)]).toEqual([
      { call: { tool: "grep", args: { path: "x", pattern: "a" } } },
      { call: { tool: "grep", args: { path: "x", pattern: "b" } } },
    ]);
    const large = "a".repeat(2_000_000);
    expect(mapCalls(map({}), { items: ["a"], path: large }, catalog)).toMatchObject({
      problem: expect.stringContaining("its inputs are too large or too deep"),
    });
    const million = Array.from({ length: 1_000_000 }, () => "a");
    expect(mapCalls(map({}), { items: million }, catalog)).toMatchObject({
      problem: 'node "m": its list has 1000000 items; the limit is 100',
    });
    expect(mapCalls(map({ max_items: 1 }), { items: ["a", "b"] }, catalog)).toMatchObject({
      kind: "failed",
    });
    expect(mapCalls(map({}), { items: "a" }, catalog)).toMatchObject({ kind: "failed" });
  });
});

test.each<[string, JsonValue, JsonValue, boolean]>([
  ["equals", { b: 1, a: [2] }, { a: [2], b: 1 }, true],
  ["not_equals", 1, "1", true],
  ["contains", "abc", "b", true],
  ["contains", [{ a: 1 }], { a: 1 }, true],
  ["contains", { a: 1 }, "toString", false],
  ["greater", 3, 2, true],
  ["greater", "3", 2, false],
  ["less", "a", "b", true],
  ["exists", null, null, false],
  ["exists", false, null, true],
  ["matches", "order 12", "^order \\d+$", true],
  ["matches", 12, "12", false],
])("the condition %s compares %j with %j", (operator, value, operand, holds) => {
  expect(conditionHolds({ operator, operand }, value)).toBe(holds);
  expect(conditionHolds({ operator, operand, path: "x.0" }, { x: [value] })).toBe(holds);
});

test("a condition fails for a text that would take too much work", () => {
  const properties = { operator: "matches", operand: "(a|b){200}c" };
  const node = nodeOf({ id: "if", type: "condition", properties });
  expect(pureOutcome(node, { value: "ab".repeat(100_000) }, "")).toMatchObject({
    kind: "failed",
    problem: expect.stringContaining("200000 characters, too many for") as string,
  });
});

describe("a node without an effect", () => {
  test("gives the input of the run: a text, or a value that fits its schema", () => {
    const schema = { type: "object", required: ["a"] };
    expect(outcome({}, '{"a":1}')).toMatchObject({ outputs: new Map([["value", '{"a":1}']]) });
    expect(outcome({ schema }, '{"a":1}')).toMatchObject({
      outputs: new Map([["value", { a: 1 }]]),
    });
    expect(outcome({ schema }, "hello")).toEqual({
      kind: "failed",
      problem: 'node "in": the input of the run does not fit: must be object',
    });
  });

  test.each(["42", "true", "[1]", "hello"])("gives the text %s to a schema of texts", (text) => {
    const given = outcome({ schema: { type: "string" } }, text);
    expect(given).toMatchObject({ outputs: new Map([["value", text]]) });
  });

  test("passes its value to one branch", () => {
    const node = nodeOf({
      id: "if",
      type: "condition",
      properties: { operator: "greater", operand: 2 },
    });
    expect(pureOutcome(node, { value: 3 }, "")).toMatchObject({ outputs: new Map([["true", 3]]) });
    expect(pureOutcome(node, { value: 1 }, "")).toMatchObject({ outputs: new Map([["false", 1]]) });
  });
});

test("the outputs of code are its printed text and its value, parsed if it is JSON", () => {
  expect(outputs("[1]")).toEqual(
    new Map<string, JsonValue>([
      ["result", [1]],
      ["stdout", "p"],
    ]),
  );
  expect(outputs("a b").get("result")).toBe("a b");
});

test("the answer is the value of the output, or of each of several by its name", () => {
  const values = new Map([
    ["a", new Map<string, JsonValue>([["value", 1]])],
    ["b", new Map<string, JsonValue>()],
    ["c", new Map<string, JsonValue>([["value", 3]])],
  ]);
  const answer = (...ids: readonly string[]) =>
    answerOf(
      workflowOf(ids.map((id) => ({ id, type: "output", name: id === "c" ? "third" : "" }))),
      (id) => values.get(id),
    );
  expect(answer("a")).toBe(1);
  expect(answer("a", "b", "c")).toEqual({ a: 1, third: 3 });
  expect(answer("b")).toBeUndefined();
});
