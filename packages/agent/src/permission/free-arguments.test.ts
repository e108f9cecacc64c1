import { expect, test } from "vitest";
import { freeArguments } from "./free-arguments.ts";

const properties = { path: { type: "string" }, content: { type: "string" }, mode: {} };
const closed = { type: "object", properties, additionalProperties: false };

test("arguments that a call leaves out are free", () => {
  const whole = { path: "a", content: "b", mode: 1 };
  expect(freeArguments(closed, whole)).toEqual({ names: [], hasOthers: false });
  expect(freeArguments(closed, { path: "a" })).toEqual({
    names: ["content", "mode"],
    hasOthers: false,
  });
});

test("any argument is free if the schema is unknown, or does not name all of them", () => {
  expect(freeArguments(undefined, { path: "a" })).toEqual({ names: [], hasOthers: true });
  expect(freeArguments({ type: "object", properties }, { path: "a", content: "b" })).toEqual({
    names: ["mode"],
    hasOthers: true,
  });
  expect(freeArguments({ ...closed, patternProperties: { x: {} } }, {}).hasOthers).toBe(true);
});
