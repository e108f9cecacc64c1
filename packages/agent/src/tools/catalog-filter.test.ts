import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { warningText } from "../spec/spec-warning.ts";
import { catalogFilter, filterWarnings } from "./catalog-filter.ts";

interface Selection {
  readonly allowed?: readonly string[] | undefined;
  readonly allowedPatterns?: readonly string[] | undefined;
  readonly excluded?: readonly string[];
  readonly excludedPatterns?: readonly string[];
}

function specOf({ allowed, allowedPatterns, excluded, excludedPatterns }: Selection): AgentSpec {
  return create(AgentSpecSchema, {
    ...(allowed && { allowedTools: fromJson(ListValueSchema, [...allowed]) }),
    ...(allowedPatterns && {
      allowedToolPatterns: fromJson(ListValueSchema, [...allowedPatterns]),
    }),
    excludedTools: [...(excluded ?? [])],
    excludedToolPatterns: [...(excludedPatterns ?? [])],
  });
}

const all = ["read_file", "write_file", "grep"];
const filtered = (selection: Selection): string[] => all.filter(catalogFilter(specOf(selection)));

test("allows all tools when no field is set", () => {
  expect(filtered({})).toEqual(all);
});

// Requirement: RES-8
test("allows nothing when an allowed field is present and empty", () => {
  expect(filtered({ allowed: [] })).toEqual([]);
  expect(filtered({ allowedPatterns: [] })).toEqual([]);
});

test("allows tools by names and patterns together", () => {
  expect(filtered({ allowed: ["grep"], allowedPatterns: ["read*"] })).toEqual([
    "read_file",
    "grep",
  ]);
});

// Requirement: RES-8
test("excludes by name and by pattern, even tools that are allowed", () => {
  expect(filtered({ excluded: ["grep"] })).toEqual(["read_file", "write_file"]);
  expect(filtered({ allowed: all, excludedPatterns: ["*_file"] })).toEqual(["grep"]);
});

test("does not interpret a star in a name", () => {
  expect(filtered({ allowed: ["*"] })).toEqual([]);
});

const name = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 3 });
const anySelection: fc.Arbitrary<Selection> = fc.record({
  allowed: fc.option(fc.array(name), { nil: undefined }),
  allowedPatterns: fc.option(fc.array(name), { nil: undefined }),
  excluded: fc.array(name),
  excludedPatterns: fc.array(name),
});

test("never keeps an excluded tool, and removes only that tool for another exclusion", () => {
  fc.assert(
    fc.property(anySelection, name, name, (selection, excluded, candidate) => {
      const before = catalogFilter(specOf(selection));
      const names = [...(selection.excluded ?? []), excluded];
      const after = catalogFilter(specOf({ ...selection, excluded: names }));
      expect(after(excluded)).toBe(false);
      expect(after(candidate)).toBe(before(candidate) && candidate !== excluded);
    }),
  );
});

test("never removes a tool when another name is allowed", () => {
  fc.assert(
    fc.property(anySelection, name, name, (selection, allowed, candidate) => {
      fc.pre(selection.allowed !== undefined);
      const before = catalogFilter(specOf(selection));
      const names = [...(selection.allowed ?? []), allowed];
      const after = catalogFilter(specOf({ ...selection, allowed: names }));
      expect(!before(candidate) || after(candidate)).toBe(true);
    }),
  );
});

// Requirement: RES-9
test("warns of a name and a pattern that match no tool, and of a permission rule", () => {
  const spec = specOf({
    allowed: ["grep", "gerp", "Bash(npm *)", "run command (git *) "],
    allowedPatterns: ["*"],
    excludedPatterns: ["web_*"],
  });
  expect(filterWarnings(spec, all).map(warningText)).toEqual([
    expect.stringMatching(/^allowed_tools\[1\]: .*"gerp"/),
    expect.stringMatching(/^allowed_tools\[2\]: "Bash\(npm \*\)" looks like a permission rule/),
    expect.stringMatching(/^allowed_tools\[3\]: "run command.*looks like a permission rule/),
    expect.stringMatching(/^excluded_tool_patterns\[0\]: "web_\*" currently matches no tool/),
  ]);
});
