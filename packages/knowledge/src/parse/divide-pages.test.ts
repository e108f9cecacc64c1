import * as fc from "fast-check";
import { expect, test } from "vitest";
import { dividePages } from "./divide-pages.ts";

const divide = (text: string, page = 0) => [...dividePages([{ page, lines: text.split("\n") }])];

test("a passage ends before a heading, and at the end of a paragraph once it is long enough", () => {
  const long = "word ".repeat(120).trim();
  expect(divide(`# One\ntext\n# Two\n${long}\n\nnext`)).toMatchObject([
    { text: "# One\ntext", firstLine: 1, lastLine: 2 },
    { firstLine: 3, lastLine: 4 },
    { text: "next", firstLine: 6, lastLine: 6 },
  ]);
});

test("a comment in a block of code is no heading", () => {
  expect(divide("```\na\n# b\n```\n# Next")).toMatchObject([
    { firstLine: 1, lastLine: 4 },
    { text: "# Next", firstLine: 5 },
  ]);
});

test("a line that is too long becomes several passages of the same line", () => {
  const passages = divide("😀".repeat(3_000));
  expect(passages.length).toBeGreaterThan(1);
  for (const { text, firstLine, lastLine } of passages) {
    expect(text.isWellFormed()).toBe(true);
    expect([firstLine, lastLine]).toEqual([1, 1]);
  }
});

const compact = (text: string) => text.replaceAll(/\s/g, "");

function check(lines: readonly string[]): void {
  const passages = [...dividePages([{ page: 1, lines }])];
  expect(compact(passages.map(({ text }) => text).join(""))).toBe(compact(lines.join("")));
  for (const { text, firstLine, lastLine } of passages) {
    expect(text.length).toBeLessThanOrEqual(1_300);
    expect(compact(lines.slice(firstLine - 1, lastLine).join(""))).toContain(compact(text));
  }
}

test("every word of a text is in a passage, in its line, and no passage is too long", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "b", " ", "#", "é"), maxLength: 3_000 });
  fc.assert(fc.property(fc.array(line, { maxLength: 20 }), check), { numRuns: 50 });
});
