import { readFileSync } from "node:fs";
import { create, equals, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Violation } from "@reeve/platform/failure";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyMessage } from "../../test/any-message.ts";
import { formatSpec, parseSpecFile } from "./spec-file.ts";

const example = readFileSync(
  new URL("../../test/configured-example.json", import.meta.url),
  "utf8",
);
const isSame = (one: AgentSpec, two: AgentSpec): boolean => equals(AgentSpecSchema, one, two);

/** Returns the Failure for a text. */
function failureOf(text: string): Failure {
  try {
    parseSpecFile(text, "agent.yaml");
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error("the text was accepted");
}

const violationsOf = (text: string): readonly Violation[] => failureOf(text).violations;

describe("a spec file", () => {
  // Requirement: CFG-14
  test("is read from YAML or JSON, in snake_case or camelCase", () => {
    const spec = create(AgentSpecSchema, { name: "a", maxRounds: 3, hitlTools: ["x"] });
    for (const text of [
      "name: a\nmax_rounds: 3\nhitl_tools: [x]\n",
      "name: a\nmaxRounds: 3\nhitlTools:\n  - x\n",
      '{"name": "a", "maxRounds": 3, "hitl_tools": ["x"]}',
      '{\n\t"name": "a",\n\t"max_rounds": 3,\n\t"hitl_tools": [\n\t\t"x"\n\t]\n}',
    ]) {
      expect(isSame(parseSpecFile(text, "a"), spec)).toBe(true);
    }
  });

  // Requirement: CFG-12, CFG-13
  test("that was written from any spec reads back as the same spec", () => {
    fc.assert(
      fc.property(anyMessage(AgentSpecSchema), (init) => {
        const spec = create(AgentSpecSchema, init);
        expect(isSame(parseSpecFile(formatSpec(spec, "yaml"), "a"), spec)).toBe(true);
        expect(isSame(parseSpecFile(formatSpec(spec, "json"), "a"), spec)).toBe(true);
        expect(isSame(fromBinary(AgentSpecSchema, toBinary(AgentSpecSchema, spec)), spec)).toBe(
          true,
        );
      }),
    );
  });

  // Requirement: CFG-12, CFG-14
  test("is written in snake_case, without unset fields", () => {
    const text = formatSpec(create(AgentSpecSchema, { name: "a", emitMcpProgress: false }), "yaml");
    expect(text).toBe("name: a\nemit_mcp_progress: false\n");
  });

  // Requirement: CFG-13
  test("keeps absent and empty apart", () => {
    const empty = parseSpecFile("name: a\nallowed_tools: []\n", "a");
    expect(empty.allowedTools?.values).toEqual([]);
    expect(empty.allowedToolPatterns).toBeUndefined();
    expect(formatSpec(empty, "yaml")).toBe("name: a\nallowed_tools: []\n");
    expect(parseSpecFile("name: a\nallowed_tools: null\n", "a").allowedTools).toBeUndefined();
  });

  // Requirement: CFG-14
  test("can be the configured example, word for word", () => {
    const spec = parseSpecFile(example, "example.json");
    expect(spec).toMatchObject({
      maxSteps: 12,
      budgetAwareness: "limit:70",
      planningEnabled: true,
    });
    expect(JSON.parse(formatSpec(spec, "json"))).toEqual(JSON.parse(example));
    expect(isSame(parseSpecFile(formatSpec(spec, "yaml"), "a"), spec)).toBe(true);
  });
});

describe("a malformed spec file reports", () => {
  // Requirement: CFG-11
  test("every unknown field and every value of the wrong type, with its path", () => {
    const violations = violationsOf(`
name: 3
colour: red
max_rounds: many
temperature: .inf
planning_enabled: "yes"
hitl_tools: [a, 7, null]
injected_tool_args: { "a b": 1 }
deep_agent: { filesystem: 1, code_timeout: fast, sudo: true }
budgets: 3
allowed_tools: all
mcp_servers: weather
max_tokens: -1
max_steps: 1.5
`);
    expect(Object.fromEntries(violations.map(({ field, reason }) => [field, reason]))).toEqual({
      name: "MISTYPED",
      colour: "UNKNOWN_FIELD",
      max_rounds: "MISTYPED",
      temperature: "MISTYPED",
      planning_enabled: "MISTYPED",
      "hitl_tools[1]": "MISTYPED",
      "hitl_tools[2]": "MISTYPED",
      'injected_tool_args["a b"]': "MISTYPED",
      "deep_agent.filesystem": "MISTYPED",
      "deep_agent.code_timeout": "MISTYPED",
      "deep_agent.sudo": "UNKNOWN_FIELD",
      budgets: "MISTYPED",
      allowed_tools: "MISTYPED",
      mcp_servers: "MISTYPED",
      max_tokens: "MISTYPED",
      max_steps: "MISTYPED",
    });
  });

  test("everything in one line that names the file", () => {
    expect(failureOf("name: 3\ncolour: red")).toMatchObject({
      kind: "invalid",
      reason: ErrorReason.INVALID_AGENT,
      message:
        "agent.yaml is not a valid agent spec: name: must be a string; colour: unknown field",
    });
  });

  test("a suggestion for a misspelled field", () => {
    expect(violationsOf("maxrounds: 3")).toEqual([
      expect.objectContaining({ description: expect.stringContaining("max_rounds") }),
    ]);
  });

  test("a field that is present in both spellings", () => {
    expect(violationsOf("max_rounds: 3\nmaxRounds: 4")).toEqual([
      expect.objectContaining({ field: "maxRounds", reason: "DUPLICATE_FIELD" }),
    ]);
  });

  test.each([
    ["name: [", "line 1", "Flow sequence"],
    ["name: a\nname: b", "line 2", 'the key "name" is repeated'],
    ["name: a\n---\nname: b", "line 2", "the file contains more than one document"],
    ["name: *missing", "", "Unresolved alias"],
    ["name: !secret x", "line 1", "Unresolved tag: !secret"],
    ["? [1]\n: 2", "line 1", "all keys must be strings"],
    [bomb(), "", ""],
  ])("invalid YAML, with its line: %j", (text, field, description) => {
    const [first] = violationsOf(text);
    expect(first).toMatchObject({ field, reason: "SYNTAX" });
    expect(first?.description).toContain(description);
    expect(first?.description).not.toMatch(/column|:$/);
  });

  test("content that is not a mapping", () => {
    for (const text of ["", "- a", "just words", "3"]) {
      expect(violationsOf(text)).toMatchObject([{ field: "", reason: "MISTYPED" }]);
    }
  });
});

/** Returns a small file that expands to a very large one. */
function bomb(): string {
  const levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let level = 1; level < 10; level++) {
    const aliases = Array.from({ length: 10 }, () => `*a${level - 1}`).join(", ");
    levels.push(`a${level}: &a${level} [${aliases}]`);
  }
  return levels.join("\n");
}

describe("a file that is too large or repeats keys", () => {
  test("is refused at its size, before it is read", () => {
    const { violations, message } = failureOf(`name: a\n# ${"x".repeat(1_048_576)}`);
    expect(violations).toEqual([
      {
        field: "",
        description: "the file has 1048586 bytes; the limit is 1048576",
        reason: "TOO_LARGE",
      },
    ]);
    expect(message).toMatch(/^agent\.yaml is not a valid agent spec: the file has/);
  });

  test("is refused with the line of each repeated key", () => {
    const text = "name: a\nbudgets:\n  max_subtasks: 1\n  max_subtasks: 2\nname: b\n";
    expect(violationsOf(text)).toEqual([
      { field: "line 5", description: 'the key "name" is repeated', reason: "SYNTAX" },
      { field: "line 4", description: 'the key "max_subtasks" is repeated', reason: "SYNTAX" },
    ]);
  });

  test("is refused with its first mistakes, however many one line has", () => {
    const violations = violationsOf(`name: [${",".repeat(300_000)}]`);
    expect(violations).toHaveLength(100);
    expect(violations[0]).toMatchObject({ field: "line 1", reason: "SYNTAX" });
  });

  test("takes time in proportion to its keys", () => {
    // A comparison of each key with each other one takes minutes.
    const keys = Array.from({ length: 40_000 }, (_, index) => `k${index}: 1`);
    expect(violationsOf(keys.join("\n"))).toHaveLength(100);
  });
});
