import { fromJson } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { StartRunRequestSchema, WatchRunRequestSchema } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { readShape } from "./read-shape.ts";

const reported = (json: JsonObject, schema = AgentSpecSchema) =>
  readShape(schema, json).violations.map(({ field, reason }) => `${field} ${reason}`);

describe("the shape of a message", () => {
  test("can have every form that the JSON mapping allows", () => {
    const spec: JsonObject = {
      name: "a",
      maxRounds: "12",
      max_tokens: 1e3,
      temperature: "0.5",
      planningModel: null,
      injected_tool_args: { __proto__: "kept", constructor: "kept" },
      sections: { retry: { deep: [null, 1, "x"] }, none: null },
      budgets: { maxWallClock: "1.5s" },
      allowedTools: ["x", 3, null],
      hitl_tools: null,
    };
    expect(readShape(AgentSpecSchema, spec)).toEqual({
      json: { ...spec, planningModel: undefined, hitl_tools: undefined },
      violations: [],
      ignored: [],
    });
    for (const onBusy of ["ON_BUSY_QUEUE", 2]) {
      expect(readShape(StartRunRequestSchema, { onBusy }).violations).toEqual([]);
    }
    const event: JsonObject = {
      time: "2026-01-31T12:00:00Z",
      runCreated: { requestHash: "AAEC" },
      runId: "r",
      sequence: 1,
    };
    expect(readShape(RunEventSchema, event)).toEqual({ json: event, violations: [], ignored: [] });
    const tool: JsonObject = { inputSchema: { type: "object" }, parallelSafe: false };
    expect(readShape(ToolDescriptorSchema, tool)).toEqual({
      json: tool,
      violations: [],
      ignored: [],
    });
  });

  test("has a bounded number of entries in each map, which are not read beyond it", () => {
    const sections = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`s${n}`, {}]));
    expect(readShape(AgentSpecSchema, { name: "a", sections })).toEqual({
      json: { name: "a", sections: {} },
      violations: [
        {
          field: "sections",
          reason: "TOO_MANY_ENTRIES",
          description: "has 1001 entries; the limit is 1000",
        },
      ],
      ignored: [],
    });
    delete sections["s0"];
    expect(reported({ name: "a", sections })).toEqual([]);
  });

  test("keeps what is valid, at the same positions, so that it can be read and checked further", () => {
    const { json, violations } = readShape(AgentSpecSchema, {
      name: "a",
      colour: "red",
      hitl_tools: ["a", 7, "b"],
      deep_agent: { code: "yes", terminal: false },
      injectedToolArgs: { good: "x", bad: 1 },
    });
    expect(fromJson(AgentSpecSchema, json)).toMatchObject({
      name: "a",
      hitlTools: ["a", "", "b"],
      deepAgent: { terminal: false },
      injectedToolArgs: { good: "x" },
    });
    expect(violations.map(({ field }) => field)).toEqual([
      "colour",
      "hitl_tools[1]",
      "deep_agent.code",
      'injected_tool_args["bad"]',
    ]);
  });

  test("must not set two fields of which only one can be set", () => {
    const both: JsonObject = { detailed: true, families: { families: [] } };
    const { json, violations } = readShape(WatchRunRequestSchema, both);
    expect(violations).toEqual([
      {
        field: "families",
        reason: "DUPLICATE_FIELD",
        description: "excludes detailed, which is present too",
      },
    ]);
    expect(() => fromJson(WatchRunRequestSchema, json)).not.toThrow();
  });

  test("must not set a field in both spellings", () => {
    expect(reported({ max_rounds: 1, maxRounds: 2 })).toEqual(["maxRounds DUPLICATE_FIELD"]);
  });

  test("suggests the field that was probably meant", () => {
    for (const [key, meant] of [
      ["hitl_tool", "hitl_tools"],
      ["budget", "budgets"],
      ["maxrounds", "max_rounds"],
      ["max-tokens", "max_tokens"],
    ] as const) {
      expect(readShape(AgentSpecSchema, { [key]: 1 }).violations).toMatchObject([
        { field: key, description: `unknown field; did you mean ${meant}?` },
      ]);
    }
  });

  test("reports at most 100 violations", () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`f${at}`, at]));
    expect(reported(many)).toHaveLength(100);
  });
});
