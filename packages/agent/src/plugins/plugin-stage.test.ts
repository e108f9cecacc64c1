import type { JsonValue } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import type { SpecInit } from "../../test/check.ts";
import { check, violationsOf } from "../../test/check.ts";
import { offer } from "../../test/offer.ts";
import { specOf, under } from "../../test/policies.ts";
import { unrestricted } from "../policy/caller-policy.ts";
import { resolveAgent } from "../resolve/resolve-agent.ts";

const sectionsOf = (sections: Record<string, JsonValue>): { sections: Record<string, Value> } => ({
  sections: Object.fromEntries(
    Object.entries(sections).map(([name, value]) => [name, fromJson(ValueSchema, value)]),
  ),
});
const resolve = (init: SpecInit) => resolveAgent(specOf(init), offer, under(unrestricted));
const unclaimed = (init: SpecInit) => check(init).details;
const pluginsOf = (init: SpecInit) => resolve(init).plan.plugins.map(({ id }) => id);

// Requirement: RES-4
describe("the plugins of an agent", () => {
  test("always have the actions of the loop and the limit of rounds", () => {
    expect(pluginsOf({})).toEqual([
      "loop-actions",
      "max-rounds",
      "budgets",
      "retry",
      "subtasks",
      "todos",
    ]);
  });

  test("have compaction and the context transform with a context policy only", () => {
    expect(pluginsOf({ contextPolicy: {} })).toEqual(
      expect.arrayContaining(["compaction", "context-transform"]),
    );
    expect(pluginsOf({ budgetAwareness: "limit:80" })).not.toContain("compaction");
  });

  test("begin with those that the spec names, in its order", () => {
    const plugins = resolve({ pluginIds: ["todos", "max-rounds"] }).plan.plugins;
    expect(plugins.slice(0, 2)).toMatchObject([
      { id: "todos", addedBy: "plugin_ids[0]" },
      { id: "max-rounds", addedBy: "plugin_ids[1]" },
    ]);
    expect(plugins.filter(({ id }) => id === "todos")).toHaveLength(1);
  });
});

// Requirement: RES-2, RES-4, RES-5
test.each<[string, SpecInit, string, string, string]>([
  ["does not exist", { pluginIds: ["todo"] }, "plugin_ids[0]", "PLUGIN_NOT_FOUND", "todos"],
  [
    "has no effect",
    { pluginIds: ["planner"] },
    "plugin_ids[0]",
    "INVALID_PLUGIN_CONFIG",
    "planning_enabled",
  ],
  [
    "is named twice",
    { pluginIds: ["todos", "todos"] },
    "plugin_ids[1]",
    "INVALID_PLUGIN_CONFIG",
    "second time",
  ],
])("a plugin that %s is refused by name", (_, init, field, reason, description) => {
  expect(violationsOf(init)).toEqual([`${field}: ${reason}`]);
  expect(check(init).violations[0]?.description).toContain(description);
  expect(() => resolve(init)).toThrow(
    expect.objectContaining({ kind: "precondition", violations: check(init).violations }),
  );
});

// Requirement: RES-2, RES-6
test.each<[string, Record<string, JsonValue>, string]>([
  ["a text", { retry: "often" }, "sections.retry"],
  ["an unknown field", { retry: { max_retry: 3 } }, "sections.retry.max_retry"],
  ["a time without a unit", { retry: { max_backoff: 3 } }, "sections.retry.max_backoff"],
  ["too many retries", { retry: { max_retries: 10_001 } }, "sections.retry.max_retries"],
  ["a number that no field holds", { retry: { max_retries: 5e9 } }, "sections.retry.max_retries"],
  [
    "contradicting times",
    { retry: { initial_backoff: "9s", max_backoff: "3s" } },
    "sections.retry",
  ],
  ["an expression that is none", { stop: { content: ["("] } }, "sections.stop.content[0]"],
  ["a lookahead", { stop: { content: ["a", "(?=x)"] } }, "sections.stop.content[1]"],
  ["a row of no error", { stop: { consecutive_errors: 0 } }, "sections.stop.consecutive_errors"],
  ["a loop of one turn", { stop: { repeated_turns: 1 } }, "sections.stop.repeated_turns"],
  ["an unknown condition", { stop: { timeout: "3s" } }, "sections.stop.timeout"],
])("a section with %s is refused with its path", (_, sections, field) => {
  expect(violationsOf(sectionsOf(sections))).toEqual([`${field}: INVALID_PLUGIN_CONFIG`]);
  expect(() => resolve(sectionsOf(sections))).toThrow(field);
});

test.each(["retry", "stop"])(
  "a section %s with a number that JSON does not have is refused",
  (name) => {
    const numberValue = create(ValueSchema, { kind: { case: "numberValue", value: Number.NaN } });
    const fields = { max_retries: numberValue };
    const section = create(ValueSchema, { kind: { case: "structValue", value: { fields } } });
    expect(violationsOf({ sections: { [name]: section } })).toEqual([
      `sections.${name}: INVALID_PLUGIN_CONFIG`,
    ]);
  },
);

// Requirement: RES-2
describe("the section retry", () => {
  test("says how failed model calls are repeated, as the field does", () => {
    const section = sectionsOf({ retry: { max_retries: 7, max_backoff: "9s" } });
    expect(resolve(section).retry).toMatchObject({ maxRetries: 7, maxBackoff: { seconds: 9n } });
    expect(resolve(section).retry).toEqual(
      resolve({ retry: { maxRetries: 7, maxBackoff: { seconds: 9n } } }).retry,
    );
  });

  test("must not contradict the field", () => {
    const section = sectionsOf({ retry: { max_retries: 7 } });
    expect(violationsOf({ ...section, retry: { maxRetries: 7 } })).toEqual([]);
    expect(violationsOf({ ...section, retry: { maxRetries: 8 } })).toEqual([
      "sections.retry: INVALID_PLUGIN_CONFIG",
    ]);
  });
});

// Requirement: RES-4, RES-6
describe("a section that no plugin reads", () => {
  test("is a warning with its path and how to fix it", () => {
    expect(unclaimed(sectionsOf({ retri: {} }))).toEqual([
      {
        field: "sections.retri",
        reason: "UNCLAIMED_SECTION",
        description: expect.stringContaining("did you mean retry?"),
      },
    ]);
    expect(check(sectionsOf({ retri: {} })).violations).toEqual([]);
  });

  test("is compaction without a context policy", () => {
    const section = sectionsOf({ compaction: { instructions: "Keep all amounts." } });
    expect(unclaimed(section)).toMatchObject([
      { field: "sections.compaction", description: expect.stringContaining("context_policy") },
    ]);
    expect(unclaimed({ ...section, contextPolicy: {} })).toEqual([]);
  });

  test("does not name the members that every object has", () => {
    expect(unclaimed(sectionsOf({ constructor: 1 }))).toMatchObject([
      { field: "sections.constructor" },
    ]);
  });
});
