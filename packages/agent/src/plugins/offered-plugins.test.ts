import type { JsonValue, MessageInitShape } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { ModelCatalogSchema, OfferedPluginSchema } from "@reeve/contracts/agent";
import { MergeMode } from "@reeve/contracts/extensions/plugin";
import { expect, test } from "vitest";
import { offer } from "../../test/offer.ts";
import { specOf, under } from "../../test/policies.ts";
import type { SpecInit } from "../../test/check.ts";
import { unrestricted } from "../policy/caller-policy.ts";
import { resolveAgent } from "../resolve/resolve-agent.ts";
import { checkSpec } from "../spec/check-spec.ts";

type OfferedInit = MessageInitShape<typeof OfferedPluginSchema>;

const guard: OfferedInit = {
  pluginDescriptor: {
    id: "guard",
    version: "2",
    sectionSchema: { type: "object", properties: { max: { type: "integer" } } },
    stateKeys: [{ name: "calls", merge: MergeMode.EXCLUSIVE }],
    tools: [{ name: "left", description: "d", permissionClass: "safe" }],
  },
  digest: "abc",
  origin: "package",
};

function offering(...plugins: readonly OfferedInit[]) {
  const models = create(ModelCatalogSchema, {
    ...offer.models,
    plugins: plugins.map((plugin) => create(OfferedPluginSchema, plugin)),
  });
  return { ...offer, models };
}

const resolve = (init: SpecInit, ...plugins: readonly OfferedInit[]) =>
  resolveAgent(specOf(init), offering(...plugins), under(unrestricted));
const violationsOf = (init: SpecInit, ...plugins: readonly OfferedInit[]) =>
  checkSpec(specOf(init), offering(...plugins)).violations;

function section(value: JsonValue): Pick<SpecInit & object, "sections"> {
  return { sections: { guard: fromJson(ValueSchema, value) } };
}

function withKey(id: string, merge: MergeMode): OfferedInit {
  return { pluginDescriptor: { id, version: "1", stateKeys: [{ name: "k", merge }] } };
}

// Requirement: RES-4, RES-5, RES-7
test("a plugin of the operator is in the plan with its version, and its tools are those of the agent", () => {
  const spec = { pluginIds: ["todos", "guard"], ...section({ max: 3 }) };
  const { plan, tools, plugins, details } = resolve(spec, guard);
  expect(plan.plugins.slice(0, 2)).toMatchObject([
    { id: "todos" },
    {
      id: "guard",
      origin: "package",
      version: "2",
      digest: "abc",
      addedBy: "plugin_ids[1]",
      sections: ["guard"],
    },
  ]);
  expect(plugins.map(({ digest }) => digest)).toEqual(["abc"]);
  expect(tools).toContainEqual(
    expect.objectContaining({ name: "guard__left", source: "plugin:guard" }),
  );
  expect(details.map(({ field }) => field)).not.toContain("sections.guard");
});

test("an agent that does not name a plugin has none of its tools", () => {
  const { plan, tools, plugins } = resolve({}, guard);
  expect(plugins).toEqual([]);
  expect(plan.plugins.map(({ id }) => id)).not.toContain("guard");
  expect(tools.map(({ name }) => name)).not.toContain("guard__left");
});

// Requirement: RES-6
test("a section that does not fit the schema of a plugin is refused with its path", () => {
  const spec = { pluginIds: ["guard"], ...section({ max: "three" }) };
  expect(violationsOf(spec, guard)).toMatchObject([
    {
      field: "sections.guard",
      reason: "INVALID_PLUGIN_CONFIG",
      description: "max must be integer",
    },
  ]);
  expect(() => resolve(spec, guard)).toThrow("sections.guard");
});

test.each<[string, MergeMode, MergeMode, string]>([
  ["both exclusively", MergeMode.EXCLUSIVE, MergeMode.EXCLUSIVE, "exclusively"],
  ["one exclusively", MergeMode.SUM, MergeMode.EXCLUSIVE, "exclusively"],
  ["in different ways", MergeMode.SUM, MergeMode.UNION, "in different ways"],
])("two plugins that declare a key %s are refused by name", (_, first, second, problem) => {
  const found = violationsOf({ pluginIds: ["a", "b"] }, withKey("a", first), withKey("b", second));
  expect(found).toMatchObject([{ field: "plugin_ids[1]", reason: "INVALID_PLUGIN_CONFIG" }]);
  expect(found[0]?.description).toContain(`"a" and "b" declare the state key "k"`);
  expect(found[0]?.description).toContain(problem);
});

test("two plugins may share a key that both merge in the same way", () => {
  expect(
    violationsOf(
      { pluginIds: ["a", "b"] },
      withKey("a", MergeMode.SUM),
      withKey("b", MergeMode.SUM),
    ),
  ).toEqual([]);
});

test("a plugin that cannot be used is refused with its problem", () => {
  const broken: OfferedInit = { pluginDescriptor: { id: "guard" }, problem: "it has no version" };
  expect(violationsOf({ pluginIds: ["guard"] }, broken)).toMatchObject([
    { field: "plugin_ids[0]", description: expect.stringContaining("it has no version") },
  ]);
});
