import { create } from "@bufbuild/protobuf";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import { DelegateAgentSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { offer } from "../../test/offer.ts";
import { decided, specOf, under } from "../../test/policies.ts";
import { unrestricted } from "../policy/caller-policy.ts";
import { resolveOften } from "./recent-resolutions.ts";
import { resolveAgent } from "./resolve-agent.ts";

const plain = under(unrestricted);
const init = { name: "often" };

test("an agent that is resolved often is resolved once, as it would be each time", () => {
  const first = resolveOften(specOf(init), offer, plain);
  expect(resolveOften(specOf(init), offer, plain)).toBe(first);
  const { plan, tools } = resolveAgent(specOf(init), offer, plain);
  expect(first.plan).toEqual(plan);
  expect(first.tools).toEqual(tools);
});

test("another spec, another offer, and another context are resolved anew", () => {
  const first = resolveOften(specOf(init), offer, plain);
  expect(resolveOften(specOf({ ...init, excludedTools: ["grep"] }), offer, plain)).not.toBe(first);
  expect(resolveOften(specOf(init), offer, { ...plain, isEditor: true })).not.toBe(first);
  const fewer = { ...offer, tools: [] };
  expect(resolveOften(specOf(init), fewer, plain).tools).not.toEqual(first.tools);
  const models = create(ModelCatalogSchema, { ...offer.models });
  expect(resolveOften(specOf(init), { ...offer, models }, plain)).not.toBe(first);
});

test("a policy, and what a request brings, are considered each time", () => {
  const policy = decided("rules: [{ name: no-grep, deny: { tools: [grep] } }]");
  const withheld = resolveOften(specOf(init), offer, under(policy));
  expect(withheld.tools.map(({ name }) => name)).not.toContain("grep");
  const schema = { ...plain, outputSchema: { type: "object" } };
  expect(resolveOften(specOf(init), offer, schema).finish).toBeDefined();
  expect(resolveOften(specOf(init), offer, plain).finish).toBeUndefined();
});

const namesOf = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

test("an agent with collections has the tool that searches them, and so has a delegate of its own", () => {
  const own = specOf({ ...init, collections: ["handbook"] });
  expect(namesOf(resolveAgent(own, offer, plain).tools)).toContain("search_knowledge");
  const caller = specOf({ ...init, delegates: ["finder"] });
  const finder = specOf({ ...init, id: "finder", collections: ["handbook"] });
  const delegates = [create(DelegateAgentSchema, { agentId: "finder", spec: finder })];
  const resolved = resolveAgent(caller, offer, { ...plain, delegates });
  expect(namesOf(resolved.tools)).not.toContain("search_knowledge");
  expect(resolved.delegates.map(({ resolved: each }) => namesOf(each.tools))).toEqual([
    expect.arrayContaining(["search_knowledge"]),
  ]);
});
