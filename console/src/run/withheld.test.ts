import { create } from "@bufbuild/protobuf";
import { RunPreparedSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { partlyDenied, toolWarnings, whyWithheld, withheldFrom } from "./withheld.ts";

const removed = "the agent's tool filter removes it";
const prepared = create(RunPreparedSchema, {
  tools: [{ name: "read_file" }],
  policy: { withheld: [{ kind: "tool_classes", name: "execute", rule: "sales", tool: "run" }] },
  plan: {
    tools: [
      { name: "read_file", calls: "allow" },
      { name: "write_file", calls: "depends", callRules: ["deny write_file(legal/*)", "allow *"] },
    ],
    excludedTools: [
      { name: "grep", reason: removed, excludedBy: "allowed_tools" },
      { name: "run", reason: "its class is not granted" },
      { name: "memory_write", reason: "a permission rule denies it", excludedBy: "the rule" },
    ],
  },
  warnings: [
    'allowed_tools: "web_fetch" does not exist',
    'allowed_tools: the agent does not have "memory_write": a rule',
    "model: it has no price",
  ],
});

test("lists once what a run could not use and why, and last what the agent does not name", () => {
  expect(withheldFrom({ prepared })).toEqual([
    {
      name: "run",
      kind: "tool classes: execute",
      why: "rule sales of the operator's policy",
      isUnnamed: false,
    },
    { name: "memory_write", kind: "tool", why: "a permission rule denies it", isUnnamed: false },
    { name: "grep", kind: "tool", why: removed, isUnnamed: true },
  ]);
  expect(whyWithheld({ prepared }, "memory_write")).toBe("a permission rule denies it");
  expect(whyWithheld({ prepared }, "read_file")).toBeUndefined();
  expect(withheldFrom({ prepared: undefined })).toEqual([]);
});

test("lists tools with calls that rules deny, and names that no tool has", () => {
  expect(partlyDenied({ prepared })).toMatchObject([
    { name: "write_file", kind: "some calls", why: "deny write_file(legal/*)" },
  ]);
  expect(toolWarnings({ prepared })).toEqual(['allowed_tools: "web_fetch" does not exist']);
});
