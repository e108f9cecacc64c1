import { expect, test } from "vitest";
import { completeSpec } from "./spec-completion.ts";

const names = { models: ["default", "openai:big"], tools: ["add_todo", "write_file"] };
const labels = (before: string) => completeSpec(before, names)?.options.map(({ label }) => label);
const textOf = (before: string, label: string) =>
  completeSpec(before, names)?.options.find((option) => option.label === label)?.text;

test("keys are those of the section", () => {
  expect(labels("")).toEqual(expect.arrayContaining(["id", "model", "budgets", "hitl_tools"]));
  expect(labels("id: a\nbudgets:\n  ")).toEqual(expect.arrayContaining(["max_cost_usd"]));
  expect(labels("id: a\nbudgets:\n  max_cost_usd: 1\n")).toContain("model");
  expect(labels("deep_agent:\n  network:\n    al")).toContain("allow");
  expect(labels("unknown:\n  ")).toBeUndefined();
});

test("the start of a key is replaced, and what follows it is begun", () => {
  expect(completeSpec("id: a\nhitl", names)?.replaced).toBe(4);
  expect(textOf("", "model")).toBe("model: ");
  expect(textOf("", "hitl_tools")).toBe("hitl_tools:\n  - ");
  expect(textOf("", "allowed_tools")).toBe("allowed_tools:\n  - ");
  expect(textOf("deep_agent:\n  ", "network")).toBe("network:\n    ");
});

test("values are the models, tools, and choices that fit", () => {
  expect(labels("model: op")).toEqual(names.models);
  expect(completeSpec("model: op", names)?.replaced).toBe(2);
  expect(labels("hitl_tools:\n  - ")).toEqual(names.tools);
  expect(labels("hitl_tools:\n- add")).toEqual(names.tools);
  expect(labels("allowed_tools:\n  - ")).toEqual(names.tools);
  expect(labels("allowed_tools:\n  - add_todo\n  - w")).toEqual(names.tools);
  expect(labels("excluded_tools:\n- ")).toEqual(names.tools);
  expect(labels("approval_policy:\n  reviewer:\n    tools:\n      - ")).toEqual(names.tools);
  expect(labels("planning_enabled: ")).toEqual(["true", "false"]);
  expect(labels("instructions: Be br")).toBeUndefined();
});

test.each(["{", "{\n  ", '{\n  "id": "a",\n', '\n{\n  "hitl_tools": [\n    '])(
  "nothing is offered in JSON: %j",
  (before) => {
    expect(labels(before)).toBeUndefined();
  },
);

test("fields that do not exist are not offered", () => {
  expect(labels("")).not.toContain("tools");
  expect(labels("tools:\n  - ")).toBeUndefined();
});

test("nothing is offered in a text", () => {
  expect(labels("instructions: |\n  Be brief and")).toBeUndefined();
});
