import { expect, test } from "vitest";
import { argumentCheck, isObjectSchema } from "./check-arguments.ts";

const patterned = { type: "object", properties: { q: { type: "string", pattern: "^(a+)+$" } } };

test("patterns are checked in time linear in the text", { timeout: 30_000 }, () => {
  const check = argumentCheck(patterned);
  expect(check({ q: "a".repeat(10_000) })).toBeUndefined();
  expect(check({ q: `${"a".repeat(10_000)}!` })).toMatch(/^q must match pattern/);
});

test("arguments that would take too much work to check are refused", () => {
  const check = argumentCheck(patterned);
  expect(check({ q: "a".repeat(4_000_000) })).toMatch(/too much work/);
});

test("an invalid schema is not a schema of an object, and refuses nothing", () => {
  const broken = { type: "object", properties: { a: { type: "thing" } } };
  expect(isObjectSchema(broken)).toBe(false);
  expect(argumentCheck(broken)({ a: 1 })).toBeUndefined();
  expect(argumentCheck(undefined)({ a: 1 })).toBeUndefined();
});

test("a problem names its argument", () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const closed = { ...schema, additionalProperties: false };
  expect(argumentCheck(schema)({ a: 1 })).toBe("a must be string");
  expect(argumentCheck(closed)({ a: "", b: 1 })).toBe("there is no argument b");
  expect(argumentCheck(schema)({})).toMatch(/^the arguments must have required property 'a'/);
});

test("a schema that takes too much work to compile is one of an object, and refuses nothing", () => {
  const names = Array.from({ length: 2_000 }, (_, index) => [`p${index}`, { type: "string" }]);
  const large = { type: "object", properties: Object.fromEntries(names) };
  expect(isObjectSchema(large)).toBe(true);
  expect(argumentCheck(large)({ p0: 1 })).toBeUndefined();
});

test("a schema that takes too much work to compile is none if it is malformed, too", () => {
  const names = Array.from({ length: 2_000 }, (_, index) => [`p${index}`, { type: "string" }]);
  const malformed = { ...Object.fromEntries(names), last: { type: "strin" } };
  expect(isObjectSchema({ type: "object", properties: malformed })).toBe(false);
});

test("a schema that takes too much work to compile may have the form of draft 7", () => {
  const pair = { type: "array", items: [{ type: "string" }, { type: "number" }] };
  const names = Array.from({ length: 1_000 }, (_, index) => [`p${index}`, pair]);
  expect(isObjectSchema({ type: "object", properties: Object.fromEntries(names) })).toBe(true);
});
