import { expect, test } from "vitest";
import { propertyFields, readJson, shownJson } from "./property-fields.ts";

test("each property of a schema has a field that fits its type", () => {
  const fields = propertyFields({
    properties: {
      code: { type: "string", description: "The code." },
      operator: { enum: ["equals", "exists"] },
      seconds: { type: "number" },
      schema: { type: "object" },
      operand: {},
      inputs: { type: "object" },
    },
    required: ["code"],
  });
  expect(fields.map(({ name, input }) => [name, input.kind])).toEqual([
    ["code", "long-text"],
    ["operator", "choice"],
    ["seconds", "number"],
    ["schema", "json"],
    ["operand", "json"],
  ]);
  expect(fields[0]).toMatchObject({ description: "The code.", isRequired: true });
  expect(fields.at(-1)?.input).toEqual({ kind: "json", takesText: true });
});

test.each(["hello", "5", '"5"', "true", "[1", ""])(
  "the text %j is read as it was shown",
  (text) => {
    const read = readJson(shownJson(text, true), true);
    expect(read).toEqual({ value: text });
  },
);

test("an empty field has no value", () => {
  expect(readJson(" ", true)).toEqual({ value: undefined });
  expect(shownJson(undefined, false)).toBe("");
});

test("what is no JSON is refused with the reason", () => {
  expect(readJson("{a: 1}", false)).toHaveProperty("problem");
  expect(readJson("hello", false)).toHaveProperty("problem");
  expect(readJson(' {"a": 1}', false)).toEqual({ value: { a: 1 } });
});
