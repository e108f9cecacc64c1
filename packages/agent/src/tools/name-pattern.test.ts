import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseNamePattern } from "./name-pattern.ts";

const matches = (pattern: string, name: string): boolean | undefined =>
  parseNamePattern(pattern)?.matches(name);
const escaped = (text: string): string => text.replaceAll(/[\\*]/g, String.raw`\$&`);

test("is anchored and case-sensitive", () => {
  expect(matches("read", "read")).toBe(true);
  expect(matches("read", "read_file")).toBe(false);
  expect(matches("file", "read_file")).toBe(false);
  expect(matches("READ", "read")).toBe(false);
});

test("matches any number of characters with a star, including none", () => {
  for (const name of ["read_file", "read_", "read_a*b\n"]) {
    expect(matches("read_*", name)).toBe(true);
  }
  expect(matches("*", "")).toBe(true);
  expect(matches("*_file", "read_file_file")).toBe(true);
  expect(matches("a*b*c", "a-b-b-c")).toBe(true);
  expect(matches("a*b*c", "a-c-b")).toBe(false);
  expect(matches("**a", "bca")).toBe(true);
});

test("takes an escaped character literally", () => {
  expect(matches(String.raw`a\*`, "a*")).toBe(true);
  expect(matches(String.raw`a\*`, "ab")).toBe(false);
  expect(matches(String.raw`a\\`, "a\\")).toBe(true);
  expect(matches(String.raw`\r.ad`, "r.ad")).toBe(true);
  expect(matches("r.ad", "read")).toBe(false);
});

// Requirement: RES-8
test("is invalid when it is empty or ends with an escape character", () => {
  expect(parseNamePattern("")).toBeUndefined();
  expect(parseNamePattern("a\\")).toBeUndefined();
  expect(parseNamePattern(String.raw`a\\\ `.trimEnd())).toBeUndefined();
});

// Requirement: RES-8
test("matches exactly the names that have its literal parts in order", () => {
  const parts = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "*", "\\"), maxLength: 4 }), {
    minLength: 2,
    maxLength: 4,
  });
  fc.assert(
    fc.property(parts, fc.string({ unit: fc.constantFrom("a", "b", "*", "\\") }), (texts, name) => {
      const pattern = texts.map(escaped).join("*");
      expect(matches(pattern, texts.join(""))).toBe(true);
      expect(matches(pattern, texts.join(name))).toBe(true);
      const oracle = new RegExp(
        `^${texts.map((text) => text.replaceAll(/[\\*]/g, String.raw`\$&`)).join("[^]*")}$`,
      );
      expect(matches(pattern, name)).toBe(oracle.test(name));
    }),
  );
});

test("takes no more than quadratic time for a hostile pattern", () => {
  expect(matches("*a".repeat(50), `${"a".repeat(2_000)}b`)).toBe(false);
});
