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
  ["a list with an empty array in it", "1. results = []\n2. query\n", ["results = []", "query"]],
  [
    "a list with an array of names in it",
    `1. Deploy to ["eu-west", "us-east"]\n2. Test`,
    [`Deploy to ["eu-west", "us-east"]`, "Test"],
  ],
  [
    "a list with an object with steps in it",
    `Plan:\n1. POST {"steps": ["dry-run"]}\n2. Deploy`,
    [`POST {"steps": ["dry-run"]}`, "Deploy"],
  ],
  [
    "a list with a fenced block in it",
    '1. Create it:\n```json\n["a", "b"]\n```\n2. Restart',
    ["Create it:", "Restart"],
  ],
  ["an object after a list of reasons", `- fast\n- cheap\n\n{"steps": ["a"]}`, ["a"]],
  [
    "a fenced object after a list of reasons",
    '- fast\n- cheap\n```json\n{"steps": ["a"]}\n```',
    ["a"],
  ],
  [
    "a fenced object before a list of notes",
    '```json\n{"steps": ["a", "b"]}\n```\n- Both are quick.\n- Neither costs anything.',
    ["a", "b"],
  ],
  ["an object before a list of notes", `{"steps": ["a"]}\n\nNotes:\n1. Quick.`, ["a"]],
  [
    "a list with an object with steps between its items",
    '1. Post\n```\n{"steps": ["dry-run"]}\n```\n2. Deploy',
    ["Post", "Deploy"],
  ],
  ["a list of boxes to tick", "- [ ] a\n- [x] b", ["a", "b"]],
  ["a numbered list in bold", "**1.** a\n**2.** b", ["a", "b"]],
  ["a numbered list with escaped points", "1\\. a\n2\\. b", ["a", "b"]],
  ["numbered steps", "Step 1: a\nStep 2: b", ["a", "b"]],
  ["a list with Windows line ends", "1. a\r\n2. b\r\n", ["a", "b"]],
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
  ["many objects on lines of their own", "\n{".repeat(500_000)],
  ["a list of blanks", `-${" ".repeat(1_000_000)}`],
  ["a blank item that ends with a return", `-${" ".repeat(1_000_000)}\r`],
])(
  "%s is parsed in linear time",
  (_, text) => {
    expect(parsePlan(text)).toBeUndefined();
  },
  // Quadratic time would be minutes.
  20_000,
);
