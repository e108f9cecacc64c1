import type { JsonObject } from "@bufbuild/protobuf";
import { clone, create } from "@bufbuild/protobuf";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { tool } from "../../test/offer.ts";
import { exposeTools, splitInjected, toolWithParameter } from "./injected-args.ts";

const grep = create(ToolDescriptorSchema, {
  ...tool("grep"),
  inputSchema: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
    additionalProperties: false,
  },
});

// Requirement: INJ-1
test("a model sees injected arguments as optional strings beside the real parameters", () => {
  expect(exposeTools([grep], { origin: "who asks" })).toMatchObject([
    {
      name: "grep",
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string" },
          origin: { type: "string", description: "who asks" },
        },
        required: ["path"],
        additionalProperties: false,
      },
    },
  ]);
});

test("a tool without parameters gets a schema for injected arguments", () => {
  const bare = create(ToolDescriptorSchema, { name: "now" });
  expect(exposeTools([bare], { origin: "who asks" })[0]?.inputSchema).toEqual({
    type: "object",
    properties: { origin: { type: "string", description: "who asks" } },
  });
});

// Requirement: INJ-1
test("the tool's own schema is never changed", () => {
  const before = clone(ToolDescriptorSchema, grep);
  exposeTools([grep], { origin: "who asks" });
  expect(grep).toEqual(before);
});

// Requirement: INJ-2
test("arguments are split without losing any", () => {
  const anyArgs = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
  fc.assert(
    fc.property(anyArgs, fc.array(fc.string()), (given, others) => {
      // A JSON value of fast-check is a JsonObject here.
      const args = given as JsonObject;
      const keys = [...Object.keys(args).filter((_, index) => index % 2 === 0), ...others];
      const { executable, injected } = splitInjected(args, keys);
      expect(Object.keys(injected).every((key) => keys.includes(key))).toBe(true);
      expect(Object.keys(executable).some((key) => keys.includes(key))).toBe(false);
      expect({ ...executable, ...injected }).toEqual(args);
    }),
  );
});

test("a parameter that a tool has itself is found", () => {
  expect(toolWithParameter([grep], "path")).toBe(grep);
  expect(toolWithParameter([grep], "origin")).toBeUndefined();
  expect(toolWithParameter([grep], "constructor")).toBeUndefined();
});

// An object literal with the key `then` is taken for a promise.
const conditional = JSON.parse(
  '{"if": {"properties": {}}, "then": {"properties": {"origin": {}}}}',
) as JsonObject;

// Requirement: CFG-7
test.each<[string, JsonObject]>([
  ["in allOf", { allOf: [{ properties: { origin: {} } }] }],
  ["in a choice", { anyOf: [{ type: "object" }, { oneOf: [{ properties: { origin: {} } }] }] }],
  ["that is required only", { required: ["origin"] }],
  ["behind a reference", { $ref: "#/$defs/a", $defs: { a: { properties: { origin: {} } } } }],
  [
    "behind a circle of references",
    {
      allOf: [{ $ref: "#/definitions/a~1b" }],
      definitions: {
        "a/b": { allOf: [{ $ref: "#" }, { $ref: "#/definitions/c" }] },
        c: conditional,
      },
    },
  ],
  ["that another one requires", { dependentSchemas: { path: { required: ["origin"] } } }],
])("a parameter %s is found", (_, inputSchema) => {
  const tool = create(ToolDescriptorSchema, { name: "t", inputSchema });
  expect(toolWithParameter([tool], "origin")).toBe(tool);
  expect(toolWithParameter([tool], "else")).toBeUndefined();
});

test("a property of a parameter, or of an unused definition, is not a parameter", () => {
  const inputSchema: JsonObject = {
    properties: { a: { properties: { origin: {} } } },
    $defs: { unused: { properties: { origin: {} } } },
  };
  const tool = create(ToolDescriptorSchema, { name: "t", inputSchema });
  expect(toolWithParameter([tool], "origin")).toBeUndefined();
});
