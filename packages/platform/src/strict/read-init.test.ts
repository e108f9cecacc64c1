import type { DescMessage } from "@bufbuild/protobuf";
import { create, toJson } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { RunEventSchema, StartRunRequestSchema, WatchRunRequestSchema } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { expect, test } from "vitest";
import { readInit } from "./read-init.ts";

const reported = (init: object, schema: DescMessage) =>
  readInit(schema, init).violations.map(({ field, reason }) => `${field} ${reason}`);

test("an object that a message can be created from is kept", () => {
  const spec = {
    name: "a",
    maxRounds: 12,
    temperature: 0.5,
    budgets: { maxWallClock: { seconds: 1n, nanos: 5 } },
    hitlTools: ["x"],
    injectedToolArgs: { a: "x" },
    sections: { a: { kind: { case: "stringValue", value: "x" } } },
    allowedTools: { values: [{ kind: { case: "stringValue", value: "x" } }] },
  };
  expect(readInit(AgentSpecSchema, spec)).toEqual({ init: spec, violations: [] });
  const request = { messages: [{ role: Role.USER, text: "x" }], labels: { a: "1" }, onBusy: 1 };
  expect(readInit(StartRunRequestSchema, request)).toEqual({ init: request, violations: [] });
  const event = {
    runId: "r",
    sequence: 1,
    event: {
      case: "runCreated",
      value: { requestHash: new Uint8Array([1]), input: "x" },
    },
  };
  expect(readInit(RunEventSchema, event)).toEqual({ init: event, violations: [] });
});

test("a plain list is accepted for a message that holds a list of JSON values", () => {
  const { init, violations } = readInit(AgentSpecSchema, {
    allowedTools: ["x"],
    deepAgent: { commandBlacklist: [] },
  });
  expect(violations).toEqual([]);
  expect(toJson(AgentSpecSchema, create(AgentSpecSchema, init))).toEqual({
    allowedTools: ["x"],
    deepAgent: { commandBlacklist: [] },
  });
  expect(reported({ allowedTools: [() => "x"] }, AgentSpecSchema)).toEqual([
    "allowed_tools MISTYPED",
  ]);
  expect(reported({ allowedTools: "x" }, AgentSpecSchema)).toEqual(["allowed_tools MISTYPED"]);
});

test("a message is as good as the object that it was created from", () => {
  const spec = create(AgentSpecSchema, { name: "a", budgets: { maxSubtasks: 1 } });
  const { init, violations } = readInit(AgentSpecSchema, spec);
  expect(violations).toEqual([]);
  expect(create(AgentSpecSchema, init)).toEqual(spec);
});

test("unknown properties and values of the wrong type are reported, and not kept", () => {
  const given = {
    name: 7,
    hitl_tools: ["x"],
    mcpServers: ["a", 7],
    planningEnabled: "yes",
    budgets: { maxCost: 1, maxSubtasks: -1 },
    injectedToolArgs: { a: 7 },
    temperature: undefined,
  };
  expect(readInit(AgentSpecSchema, given)).toEqual({
    init: { mcpServers: ["a", ""], budgets: {}, injectedToolArgs: {} },
    violations: [
      expect.objectContaining({ field: "name", description: "must be a string" }),
      expect.objectContaining({
        field: "hitl_tools",
        description: "unknown field; did you mean hitlTools?",
      }),
      expect.objectContaining({ field: "mcp_servers[1]", reason: "MISTYPED" }),
      expect.objectContaining({ field: "planning_enabled", reason: "MISTYPED" }),
      expect.objectContaining({ field: "budgets.maxCost", reason: "UNKNOWN_FIELD" }),
      expect.objectContaining({ field: "budgets.max_subtasks", reason: "MISTYPED" }),
      expect.objectContaining({ field: `injected_tool_args["a"]`, reason: "MISTYPED" }),
    ],
  });
});

test("unknown cases and values of enums are reported", () => {
  expect(reported({ selection: { case: "some", value: 1 } }, WatchRunRequestSchema)).toEqual([
    "some UNKNOWN_FIELD",
  ]);
  expect(reported({ onBusy: 99 }, StartRunRequestSchema)).toEqual(["on_busy MISTYPED"]);
});
