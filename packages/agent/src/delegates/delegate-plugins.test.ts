import type { JsonValue } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { ModelCatalogSchema, OfferedPluginSchema } from "@reeve/contracts/agent";
import { MergeMode } from "@reeve/contracts/extensions/plugin";
import { DelegateAgentSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import type { SpecInit } from "../../test/check.ts";
import { offer } from "../../test/offer.ts";
import { specOf, under } from "../../test/policies.ts";
import { unrestricted } from "../policy/caller-policy.ts";
import { resolveAgent } from "../resolve/resolve-agent.ts";
import { delegatePlugins } from "./delegate-plugins.ts";

const plugins = ["a", "b"].map((id) =>
  create(OfferedPluginSchema, {
    pluginDescriptor: {
      id,
      version: "1",
      sectionSchema: { type: "object" },
      stateKeys: [{ name: "k", merge: MergeMode.EXCLUSIVE }],
      tools: [{ name: "left", description: "d" }],
    },
    digest: id,
    origin: "package",
  }),
);
const offered = { ...offer, models: create(ModelCatalogSchema, { ...offer.models, plugins }) };

const section = (id: string, value: JsonValue) => ({
  sections: { [id]: fromJson(ValueSchema, value) },
});

function resolve(root: SpecInit, ...others: readonly SpecInit[]) {
  const delegates = others.map((init, index) => {
    const id = `d${index}`;
    return create(DelegateAgentSchema, { agentId: id, spec: { ...specOf(init), id, name: id } });
  });
  const ids = delegates.map(({ agentId }) => agentId);
  const spec = specOf({ id: "root", delegates: ids, ...root });
  return resolveAgent(spec, offered, { ...under(unrestricted), delegates });
}

// Requirement: RES-5, RES-7
test("a delegate has the tools of the plugins that it names, and the plugin takes part in its work only", () => {
  const resolved = resolve({}, { pluginIds: ["a"] }, { pluginIds: ["a"] }, {});
  const tools = resolved.delegates.map(({ resolved: each }) =>
    each.tools.some(({ name }) => name === "a__left"),
  );
  expect(tools).toEqual([true, true, false]);
  const found = delegatePlugins(resolved.plugins, resolved.delegates);
  expect(found.map(({ plugin, delegateIds }) => [plugin.digest, delegateIds])).toEqual([
    ["a", ["d0", "d1"]],
  ]);
});

test("a plugin that the agent of the run names takes part everywhere, once", () => {
  const resolved = resolve({ pluginIds: ["a"] }, { pluginIds: ["a"] });
  expect(delegatePlugins(resolved.plugins, resolved.delegates)).toEqual([]);
});

test("two agents of a run that give one plugin different sections are refused by name", () => {
  const one = { pluginIds: ["a"], ...section("a", { max: 1 }) };
  const other = { pluginIds: ["a"], ...section("a", { max: 2 }) };
  expect(() => resolve(one, one)).not.toThrow();
  expect(() => resolve(one, other)).toThrow(
    'agent "d0": sections.a: differs from the section of "root"',
  );
});

test("plugins of different agents of a run that change one key exclusively are refused", () => {
  expect(() => resolve({ pluginIds: ["a"] }, { pluginIds: ["b"] })).toThrow("exclusively");
});
