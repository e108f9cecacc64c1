import { expect, test } from "vitest";
import { guardListOf } from "./guardrails-section.ts";
import { findIn } from "./text-check.ts";
import { Work } from "./work.ts";

/** Finds in texts what a guard with these fields looks for, with the work of one check, and counts the pauses. */
function find(fields: object, texts: readonly string[], isFirst = false) {
  const input = [{ name: "g", action: "stop", ...fields }];
  const check = guardListOf({ input })?.guards[0]?.check;
  if (check?.kind !== "text") throw new Error("no check of texts");
  const work = new Work();
  let pauses = 0;
  const found = texts.map((text) => {
    const finding = findIn(check, text, work, isFirst);
    for (;;) {
      const { done, value } = finding.next();
      if (done === true) return value;
      pauses += 1;
    }
  });
  return { found, pauses };
}

function foundIn(fields: object, text: string, isFirst = false): readonly string[] | undefined {
  const { found } = find(fields, [text], isFirst);
  return found[0]?.spans?.map(({ start, end }) => text.slice(start, end));
}

test("a guard finds expressions and texts in any case if it says so", () => {
  const fields = { patterns: ["drop +table"], literals: ["SeCret"], ignore_case: true };
  const text = "DROP  TABLE x; my secret";
  expect(foundIn(fields, text)).toEqual(["DROP  TABLE", "secret"]);
});

test("a guard that replaces nothing looks for one place only", () => {
  const fields = { patterns: ["a+", "b+"] };
  expect(foundIn(fields, "aa b aa")).toEqual(["aa", "b", "aa"]);
  expect(foundIn(fields, "aa b aa", true)).toEqual(["aa"]);
});

test("a text that would take an expression too long is a problem, not a wait", () => {
  const { found } = find({ patterns: ["(a{1,50}b?){1,5}c"] }, ["a".repeat(4_000_000)]);
  expect(found[0]?.problem).toContain("4000000 characters");
});

test("searches of one text share the work of a check, and what is too much belongs to the last place", () => {
  const text = "x".repeat(60_000);
  const { found, pauses } = find({ patterns: ["x.*y|x"] }, [text]);
  const spans = found[0]?.spans ?? [];
  expect(spans.length).toBeLessThan(100);
  expect(spans.at(-1)?.end).toBe(text.length);
  expect(pauses).toBeGreaterThan(5);
});

test("the texts of one check share its work", () => {
  const texts = Array.from({ length: 30 }, () => "a".repeat(60_000));
  const { found } = find({ patterns: ["[a-z ]*[0-9]b"] }, texts);
  expect(found.findIndex(({ problem }) => problem !== undefined)).toBeGreaterThan(5);
});
