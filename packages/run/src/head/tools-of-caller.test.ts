import { create } from "@bufbuild/protobuf";
import { RunPreparedSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { toolsOfCaller } from "./tools-of-caller.ts";

const prepared = create(RunPreparedSchema, {
  tools: [{ name: "search" }, { name: "write" }],
  delegates: [{ agentId: "b", tools: [{ name: "fetch" }], sharedTools: ["search"] }],
});
const names = (delegateId: string) => toolsOfCaller(prepared, delegateId).map(({ name }) => name);

// Requirement: HITL-1
test("the arguments of a decision are checked with the tools of the agent that made the call", () => {
  expect(names("")).toEqual(["search", "write"]);
  expect(names("b")).toEqual(["fetch", "search"]);
  expect(names("gone")).toEqual([]);
  expect(toolsOfCaller(undefined, "b")).toEqual([]);
});
