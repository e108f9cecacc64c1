import { expect, test } from "vitest";
import { editSpec } from "./edit-spec.ts";

const text = "# why\nid: a\nname: A # shown\nbudgets:\n  max_cost_usd: 1\n";

test("a field changes, and everything else stays as it was written", () => {
  expect(editSpec(text, ["name"], "B")).toBe(text.replace("A # shown", "B"));
  expect(editSpec(text, ["instructions"], "one\ntwo\n")).toBe(
    `${text}instructions: |\n  one\n  two\n`,
  );
  expect(editSpec(text, ["hitl_tools"], ["x"])).toBe(`${text}hitl_tools:\n  - x\n`);
});

test("an empty value removes the field, and the section that has no other", () => {
  expect(editSpec(text, ["budgets", "max_cost_usd"], undefined)).toBe(
    "# why\nid: a\nname: A # shown\n",
  );
  expect(editSpec(text, ["name"], "")).not.toContain("name");
  expect(editSpec(text, ["budgets", "max_depth"], 2)).toBe(`${text}  max_depth: 2\n`);
});

test("a text that cannot be read stays as it is", () => {
  expect(editSpec("a: [", ["name"], "B")).toBe("a: [");
});

test.each([
  ["id: a\nbudgets:\n", "id: a\nbudgets:\n  max_cost_usd: 5\n"],
  ["id: a\nbudgets: none\n", "id: a\nbudgets:\n  max_cost_usd: 5\n"],
  ["id: &b a\nbudgets: *b\n", "id: &b a\nbudgets:\n  max_cost_usd: 5\n"],
  ["", "budgets:\n  max_cost_usd: 5\n"],
  ["a text", "budgets:\n  max_cost_usd: 5\n"],
])("a section that is no map becomes one: %j", (before, after) => {
  expect(editSpec(before, ["budgets", "max_cost_usd"], 5)).toBe(after);
});

test.each(["id: a\n", "id: a\nbudgets:\n", "id: a\nbudgets: none\n", "", "a text"])(
  "removing a field that is not there changes nothing: %j",
  (before) => {
    expect(editSpec(before, ["budgets", "max_cost_usd"], undefined)).toBe(before);
  },
);

test("a text in JSON stays JSON", () => {
  const text = JSON.stringify({ id: "a", budgets: { max_depth: 2 } }, undefined, 2);
  const edited = editSpec(text, ["description"], "It says: yes", "JSON");
  expect(JSON.parse(edited)).toEqual({
    id: "a",
    budgets: { max_depth: 2 },
    description: "It says: yes",
  });
  expect(editSpec(edited, ["description"], "", "JSON")).toBe(text);
});
