import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { schemaProblem } from "@reeve/agent/schema/schema-problem";
import { argumentProblems } from "./validate-arguments.ts";

const problems = (inputSchema: JsonObject, args: JsonObject) =>
  argumentProblems(create(ToolDescriptorSchema, { name: "t", inputSchema }), args);
const text = (pattern: string): JsonObject => ({ properties: { s: { type: "string", pattern } } });
const draft = (year: string) => `https://json-schema.org/draft/${year}/schema`;

test("a tool without a schema accepts all arguments", () => {
  expect(argumentProblems(create(ToolDescriptorSchema), { a: 1 })).toEqual([]);
});

test("every problem is reported with its path and the allowed values", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "integer" }, b: { properties: { c: { enum: ["x", "y"] } } } },
    required: ["d"],
  };
  expect(problems(schema, { a: "1", b: { c: "z" } })).toEqual([
    "must have required property 'd'",
    "a must be integer",
    "b.c must be equal to one of the allowed values: x, y",
  ]);
});

test("the first of many problems are reported, with the number of the others", () => {
  const list = Array.from({ length: 1_000 }, () => "x");
  const reported = problems({ properties: { n: { items: { type: "integer" } } } }, { n: list });
  expect(reported).toHaveLength(21);
  expect(reported.at(-1)).toBe("and 980 more");
});

test.each([
  ["draft 7", "http://json-schema.org/draft-07/schema#"],
  ["2019-09", draft("2019-09")],
  ["2020-12", draft("2020-12")],
  ["an unknown one", "https://example.com/schema"],
])("a schema that names %s is enforced", (_, $schema) => {
  const schema = {
    $schema,
    $defs: { n: { type: "integer" } },
    properties: { a: { $ref: "#/$defs/n" } },
  };
  expect(schemaProblem(schema)).toBeUndefined();
  expect(problems(schema, { a: "1" })).toEqual(["a must be integer"]);
});

test("the keywords of 2020-12 are enforced", () => {
  const schema = {
    $schema: draft("2020-12"),
    properties: { a: { prefixItems: [{ type: "null" }] } },
  };
  expect(problems(schema, { a: [1] })).toEqual(["a.0 must be null"]);
});

test.each([
  ["a type that is none", { type: "banana" }],
  ["a reference that leads nowhere", { $ref: "#/nowhere" }],
  ["a reference to another place", { $ref: "https://example.com/x.json" }],
  ["a pattern that is none", text("[")],
  ["too long to read", { enum: ["x".repeat(100_001)] }],
])("%s is an invalid schema, and refuses nothing", (_, schema) => {
  expect(schemaProblem(schema)).toEqual(expect.any(String));
  expect(problems(schema, { s: "x" })).toEqual([]);
});

test("a schema that names no draft is read by 2020-12, or else by draft 7", () => {
  const tuple = { properties: { t: { prefixItems: [{ type: "integer" }], items: false } } };
  const older = { properties: { t: { items: [{ type: "integer" }], additionalItems: false } } };
  for (const schema of [tuple, older]) {
    expect(problems(schema, { t: ["x", 2] }).toSorted()).toEqual([
      "t must NOT have more than 1 items",
      "t.0 must be integer",
    ]);
  }
  const named = { $schema: "http://json-schema.org/draft-07/schema#", ...tuple };
  expect(problems(named, { t: ["x"] })).toEqual(["t.0 boolean schema is false"]);
});

test("two schemas with the same id do not conflict", () => {
  expect(problems({ $id: "x", required: ["a"] }, {})).toHaveLength(1);
  expect(problems({ $id: "x", required: ["b"] }, {})).toEqual(["must have required property 'b'"]);
});

test("an asynchronous schema is enforced like any other", () => {
  expect(problems({ $async: true, required: ["a"] }, {})).toHaveLength(1);
});

describe("patterns", () => {
  test.each([
    ["^[\\w\\-]+$", "a-b", "a b"],
    ["^\\d{4}\\/\\d{2}$", "2024/01", "2024-01"],
    ["^\\p{L}+$", "Größe", "1"],
    ["^.$", "😀", "ab"],
    ["^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$", "a@b.c", "a@b"],
    ["\\u00e9", "café", "cafe"],
  ])("%s matches %s and not %s", (pattern, fits, other) => {
    expect(problems(text(pattern), { s: fits })).toEqual([]);
    expect(problems(text(pattern), { s: other })).toHaveLength(1);
  });

  test.each(["^(?!x)a", "(?<=a)b", "(a)\\1", "a{0,5000}"])(
    "%s is not checked in the schema of a tool, and refused as the schema of a result",
    (pattern) => {
      expect(problems({ ...text(pattern), required: ["n"] }, { s: "x" })).toHaveLength(1);
      expect(schemaProblem(text(pattern))).toContain("cannot be matched in linear time");
    },
  );

  test.each(["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(a*)*b", "^([a-z]+.)+[A-Z]$"])(
    "%s does not keep its worker busy, whatever the text",
    (pattern) => {
      expect(problems(text(pattern), { s: `${"a".repeat(50_000)}!` })).toHaveLength(1);
    },
  );

  test("that are too large for a text are refused as too much work", () => {
    const reported = problems(text("^((a?){500}a{500})+$"), { s: "a".repeat(100_000) });
    expect(reported).toEqual([expect.stringContaining("too much work to check")]);
  });

  test("as names of properties are linear, too", () => {
    const schema = { patternProperties: { "^(a+)+$": { type: "null" } } };
    expect(problems(schema, { [`${"a".repeat(50_000)}!`]: 1 })).toEqual([]);
    expect(problems(schema, { aaa: 1 })).toHaveLength(1);
  });
});

describe("references", () => {
  test("may describe a tree", () => {
    const schema = { properties: { n: { $ref: "#" } }, required: ["v"] };
    expect(problems(schema, { v: 1, n: { v: 2, n: {} } })).toEqual([
      "n.n must have required property 'v'",
    ]);
  });

  test.each([
    ["in a circle", { $ref: "#" }],
    ["in a circle of 2020-12", { $schema: draft("2020-12"), $dynamicRef: "#" }],
    [
      "in a larger circle",
      { allOf: [{ $ref: "#/$defs/a" }], $defs: { a: { anyOf: [{ $ref: "#" }] } } },
    ],
    [
      "to more and more of themselves",
      {
        $defs: Object.fromEntries(
          Array.from({ length: 40 }, (_, n): [string, JsonObject] => {
            const next = { $ref: `#/$defs/d${n + 1}` };
            return [`d${n}`, n === 39 ? { type: "object" } : { allOf: [next, next] }];
          }),
        ),
        $ref: "#/$defs/d0",
      },
    ],
  ])("that lead %s are refused as too much work", (_, schema) => {
    expect(problems(schema, {})).toEqual([expect.stringContaining("too much work to check")]);
  });

  test("that multiply with the depth of the arguments are refused, too", () => {
    const again = { $ref: "#" };
    const schema = { properties: { a: { allOf: [again, again, again] } } };
    const deep = Array.from({ length: 24 }).reduce<JsonObject>((inner) => ({ a: inner }), {});
    expect(problems(schema, deep)).toEqual([expect.stringContaining("too much work to check")]);
  });
});
