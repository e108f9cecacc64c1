import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { compileCost, maxCompileCost } from "./compile-cost.ts";
import { compileSchema } from "./compile-schema.ts";

const named = (count: number, value: JsonValue): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, value]));
const nested = (levels: number, wrap: (inner: JsonValue) => JsonObject): JsonObject => {
  let schema: JsonObject = {};
  for (let level = 0; level < levels; level++) schema = wrap(schema);
  return schema;
};
const listOf = (count: number, value: JsonValue) => Array.from({ length: count }, () => value);
const short = (count: number) => Array.from({ length: count }, (_, index) => index.toString(36));
const shared = { $defs: { x: { properties: named(150, { type: "string" }) } } };

describe("a schema is not compiled if it has too many", () => {
  test.each<[string, JsonObject]>([
    ["properties", { properties: named(2_000, { type: "string" }) }],
    ["properties with a literal name", { properties: { enum: named(2_000, {}) } }],
    ["alternatives", { anyOf: listOf(2_000, { type: "string" }) }],
    ["alternatives that are true or false", { anyOf: listOf(15_000, false) }],
    ["levels", nested(1_000, (inner) => ({ not: inner }))],
    ["alternatives within each other", nested(12, (inner) => ({ anyOf: [inner, inner] }))],
    ["dependencies", { dependentRequired: named(2_000, ["a"]) }],
    ["lists of required names", { allOf: listOf(100, { required: short(199) }) }],
    ["lists of dependencies", { dependentRequired: named(100, short(199)) }],
    ["lists of dependencies of draft 7", { dependencies: named(100, short(199)) }],
    [
      "names that keywords exclude",
      {
        ...nested(11, (inner) => ({ allOf: [inner], unevaluatedProperties: false })),
        properties: named(1_000, true),
      },
    ],
    ["patterns", { properties: named(100, { pattern: "a" }) }],
    ["names that are patterns", { patternProperties: named(100, true) }],
    ["repetitions", { pattern: "a{1,999}".repeat(5) }],
    ["references", { ...shared, allOf: listOf(1_000, { $ref: "#/$defs/x" }) }],
  ])("%s", (_, schema) => {
    expect(compileCost(schema)).toBeGreaterThan(maxCompileCost);
    expect(compileSchema(schema)).toMatchObject({
      kind: "invalid",
      problem: expect.stringMatching(/^compiling it takes too much work; use fewer/) as string,
    });
  });
});

test.each<[string, JsonObject]>([
  ["300 described properties", { properties: named(300, { type: "string", description: "d" }) }],
  ["100 lists of choices", { properties: named(100, { enum: short(199) }) }],
  ["300 required names", { properties: named(300, { type: "string" }), required: short(300) }],
  ["20 lists of dependencies", { dependentRequired: named(20, short(20)) }],
  ["choices, which cost little", { enum: Array.from({ length: 10_000 }, (_, index) => index) }],
  ["20 patterns", { properties: named(20, { pattern: "^[0-9a-f]{8}-[0-9a-f]{4}$" }) }],
  ["many references", { ...shared, allOf: listOf(200, { $ref: "#/$defs/x" }) }],
])("a schema with %s is compiled", (_, schema) => {
  expect(compileCost(schema)).toBeLessThan(maxCompileCost);
  expect(compileSchema(schema)).toMatchObject({ kind: "compiled" });
});
