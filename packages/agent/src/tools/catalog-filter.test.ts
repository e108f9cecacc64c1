import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import * as fc from "fast-check";
import { expect, test } from "vitest";
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
const kept = (selection: Selection): string[] => all.filter(catalogFilter(specOf(selection)));

test("allows everything when no field says otherwise", () => {
  expect(kept({})).toEqual(all);
});

// Requirement: RES-8
test("allows nothing when an allowed field is there and empty", () => {
  expect(kept({ allowed: [] })).toEqual([]);
  expect(kept({ allowedPatterns: [] })).toEqual([]);
});

test("allows names and patterns together", () => {
  expect(kept({ allowed: ["grep"], allowedPatterns: ["read*"] })).toEqual(["read_file", "grep"]);
});

// Requirement: RES-8
test("excludes by name and by pattern, also what is allowed", () => {
  expect(kept({ excluded: ["grep"] })).toEqual(["read_file", "write_file"]);
  expect(kept({ allowed: all, excludedPatterns: ["*_file"] })).toEqual(["grep"]);
});

test("takes a name for a name: its star is none", () => {
  expect(kept({ allowed: ["*"] })).toEqual([]);
});

const name = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 3 });
const anySelection: fc.Arbitrary<Selection> = fc.record({
  allowed: fc.option(fc.array(name), { nil: undefined }),
  allowedPatterns: fc.option(fc.array(name), { nil: undefined }),
  excluded: fc.array(name),
  excludedPatterns: fc.array(name),
});

test("never keeps what is excluded, and never more for one exclusion more", () => {
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

test("keeps no less for one name more that is allowed", () => {
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
test("warns of a name and a pattern that fit nothing, and of a permission rule", () => {
  const spec = specOf({
    allowed: ["grep", "gerp", "Bash(npm *)"],
    allowedPatterns: ["*"],
    excludedPatterns: ["web_*"],
  });
  expect(filterWarnings(spec, all)).toEqual([
    expect.stringMatching(/^allowed_tools: .*"gerp"/),
    expect.stringMatching(/^allowed_tools: "Bash\(npm \*\)" looks like a permission rule/),
    expect.stringMatching(/^excluded_tool_patterns: "web_\*" matches no tool/),
  ]);
});
