import { expect, test } from "vitest";
import { checkArguments } from "./check-arguments.ts";

const schema = {
  type: "object",
  properties: { amount: { type: "number", maximum: 10 }, to: { type: "string" } },
  required: ["amount"],
  additionalProperties: false,
};

test("arguments that match the schema are accepted", () => {
  expect(checkArguments('{"amount": 3}', schema)).toEqual({ value: { amount: 3 }, problems: [] });
});

test.each([
  ["[1]", "the arguments must be a JSON object"],
  ['{"amount": 11}', "amount: 11 is greater than 10."],
  ['{"to": "ann"}', 'arguments: Instance does not have required property "amount".'],
])("arguments are refused with the reason: %s", (text, problem) => {
  const { value, problems } = checkArguments(text, schema);
  expect(value).toBeUndefined();
  expect(problems).toContain(problem);
});

test("text that is not JSON is refused with the reason of the parser", () => {
  const { value, problems } = checkArguments("{", schema);
  expect(value).toBeUndefined();
  expect(problems.join()).toContain("JSON");
});
