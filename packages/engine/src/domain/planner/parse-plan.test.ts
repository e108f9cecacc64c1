import { expect, test } from "vitest";
import { parsePlan } from "./parse-plan.ts";

test.each([
  ["an object with steps", `{"steps": ["a", "b"]}`, ["a", "b"]],
  ["a bare list", `["a", "b"]`, ["a", "b"]],
  ["an object among words", `Sure! {"steps": ["a"]} That is all.`, ["a"]],
  ["a fenced block", 'Here:\n```json\n{"steps": ["a", "b"]}\n```\n', ["a", "b"]],
  ["steps that are objects", `{"steps": [{"description": "a"}, {"step": "b"}]}`, ["a", "b"]],
  ["a numbered list", "1. a\n2) b\n", ["a", "b"]],
  ["a dashed list with lines that go on", "The plan:\n- a\n  and more\n- b", ["a\nand more", "b"]],
  ["no steps at all", `{"steps": []}`, []],
  ["steps that are empty", `{"steps": ["", "a", " "]}`, ["a"]],
])("a plan is read from %s", (_, text, steps) => {
  expect(parsePlan(text)).toEqual(steps);
});

test.each(["", "I would rather not.", `{"steps": "a"}`, `{"steps": [1, 2]}`, "{broken"])(
  "%j holds no plan",
  (text) => {
    expect(parsePlan(text)).toBeUndefined();
  },
);

test("a plan is limited in its number of steps and in their length", () => {
  const steps = parsePlan(JSON.stringify(Array.from({ length: 80 }, () => "x".repeat(5_000))));
  expect(steps).toHaveLength(50);
  expect(steps?.[0]).toHaveLength(2_000);
});

test("no step is cut within a character", () => {
  const [step = ""] = parsePlan(JSON.stringify([`${"a".repeat(1_999)}😀b`])) ?? [];
  expect(step).toBe("a".repeat(1_999));
  expect(parsePlan(`["half \\ud83d"]`)?.every((step) => step.isWellFormed())).toBe(true);
});

test.each([
  ["a fence that never ends", `\`\`\`${"\n".repeat(1_000_000)}`],
  ["many fences", "```\n".repeat(20_001)],
  ["many braces", "{".repeat(1_000_000)],
  ["a list of blanks", `-${" ".repeat(1_000_000)}`],
])(
  "%s is parsed in linear time",
  (_, text) => {
    expect(parsePlan(text)).toBeUndefined();
  },
  2_000,
);
