import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { HookPhase, PluginDescriptorSchema } from "@reeve/contracts/extensions/plugin";
import { expect, test } from "vitest";
import { descriptorProblem } from "./descriptor-problem.ts";

type DescriptorInit = Omit<MessageInitShape<typeof PluginDescriptorSchema>, "$typeName">;

const problemOf = (init: DescriptorInit) =>
  descriptorProblem(
    "guard",
    create(PluginDescriptorSchema, { id: "guard", version: "1", ...init }),
  );

test("a plugin that describes itself completely can be used", () => {
  const inputSchema = { type: "object", properties: { a: { type: "string" } } };
  const tools = [{ name: "add", inputSchema, permissionClass: "safe" }];
  const stateKeys = [{ name: "guard.calls", schema: { type: "number" } }];
  const phases = [HookPhase.RUN_START];
  expect(problemOf({ tools, stateKeys, phases, deadline: durationFromMs(1_000) })).toBeUndefined();
});

test.each<[string, DescriptorInit, string]>([
  ["another id", { id: "other" }, `its id is "other"`],
  ["no version", { version: "" }, "no version"],
  ["a hook for actions", { phases: [HookPhase.ACTION] }, "an action is none"],
  ["a hook of a newer version", { phases: [77 as HookPhase] }, "does not exist"],
  ["a long deadline", { deadline: durationFromMs(300_001) }, "deadline"],
  ["a schema that is none", { sectionSchema: { type: 7 } }, "schema of its section"],
  ["a key with spaces", { stateKeys: [{ name: "a b" }] }, `"a b"`],
  ["a key twice", { stateKeys: [{ name: "a" }, { name: "a" }] }, "twice"],
  ["a tool without a name", { tools: [{ name: "" }] }, "the name of its tool"],
  ["two tools with one name", { tools: [{ name: "a" }, { name: "a" }] }, "one name"],
  ["a list as arguments", { tools: [{ name: "a", inputSchema: { type: "array" } }] }, "object"],
  [
    "a tool that starts subtasks",
    { tools: [{ name: "a", permissionClass: "subagent" }] },
    "cannot",
  ],
  [
    "a long time limit",
    { tools: [{ name: "a", timeLimit: durationFromMs(3_600_001) }] },
    "one hour",
  ],
  ["an unknown class", { tools: [{ name: "a", permissionClass: "root" }] }, `class "root"`],
])("a plugin with %s cannot be used, by name", (_, init, problem) => {
  expect(problemOf(init)).toContain(problem);
});
