import { describe, expect, test } from "vitest";
import { jsonBody } from "./json-body.ts";

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

// Requirement: WEB-2
describe("the JSON of a response", () => {
  test("is a value", () => {
    expect(jsonBody('{"a":["[{\\"","b"]}')).toEqual({ a: ['[{"', "b"] });
  });

  test.each([
    ["invalid", '{"a":'],
    ["deeper than a log can store", nested(24)],
    ["very deep", nested(120_000)],
    ["long", `[${"1,".repeat(200_000)}1]`],
    ["a number without bounds", "[1e999]"],
    ["half of a character", '["\\ud800"]'],
  ])("stays a text if it is %s", (_, text) => {
    expect(jsonBody(text)).toBe(text);
  });

  test("may be as deep as a log can store", () => {
    expect(jsonBody(nested(23))).toEqual(JSON.parse(nested(23)));
  });
});
