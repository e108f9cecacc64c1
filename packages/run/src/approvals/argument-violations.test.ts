import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { argumentViolations } from "./argument-violations.ts";

const fieldsOf = (args: JsonObject, schema: JsonObject) =>
  argumentViolations("args", args, schema).map(({ field, description }) => [field, description]);

describe("arguments", () => {
  test("are checked against the schema of their tool, with the path of each violation", () => {
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { list: { type: "array", items: { type: "integer" } }, kind: { enum: ["a"] } },
      required: ["kind"],
      additionalProperties: false,
    };
    expect(fieldsOf({ kind: "a", list: [1, 2] }, schema)).toEqual([]);
    expect(fieldsOf({ kind: "b", list: [1, "x"], more: 1 }, schema)).toEqual([
      ["args", "unknown argument more"],
      ["args.list.1", "must be integer"],
      ["args.kind", "must be equal to one of the allowed values"],
    ]);
  });

  test.each<[string, JsonObject]>([
    ["is none", { type: "nonsense" }],
    ["refers to itself", { $ref: "#" }],
    ["refers to parts that double", { allOf: [{ $ref: "#/$defs/a" }], $defs: { a: {} } }],
    ["is asynchronous", { $async: true, type: "object" }],
    ["is very long", { type: "string", description: "x".repeat(200_000) }],
  ])("pass a schema that %s", (_, schema) => {
    expect(fieldsOf({ a: 1 }, schema)).toEqual([]);
  });

  test("are not checked against backtracking patterns and quadratic comparisons", () => {
    const schema = {
      properties: {
        text: { type: "string", pattern: "^(a+)+$" },
        list: { type: "array", uniqueItems: true },
      },
      patternProperties: { "^(x+)+$": { type: "string" } },
      additionalProperties: false,
    };
    const list = Array.from({ length: 200_000 }, (_, index) => ({ index }));
    const args = { text: `${"a".repeat(40)}!`, list, [`${"x".repeat(40)}!`]: "y" };
    expect(fieldsOf(args, schema)).toEqual([]);
    expect(fieldsOf({ ...args, text: 1 }, schema)).toEqual([["args.text", "must be string"]]);
  });
});
