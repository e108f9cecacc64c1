import { PermissionClass } from "@reeve/contracts/tool";
import * as fc from "fast-check";
import { stringify } from "yaml";
import { expect, test } from "vitest";
import type { SpecInit } from "../../test/check.ts";
import { offer } from "../../test/offer.ts";
import { decided, specOf, under } from "../../test/policies.ts";
import { resolveAgent } from "../resolve/resolve-agent.ts";
import { limitValues } from "../spec/limits.ts";
import { toolbelt } from "../tools/toolbelt.ts";
import { withheldTool } from "./caller-policy.ts";

const names = [
  ...offer.tools.flatMap(({ tools }) => tools.map(({ name }) => name)),
  "write_*",
  "*",
  "mcp__*",
  "retrieve_artifact",
  "write_todos",
];
const classes = ["safe", "execute", "network", "workspace_write", "secrets", "knowledge", "*"];
const someOf = (items: readonly string[]) =>
  fc.uniqueArray(fc.constantFrom(...items), { minLength: 1 });
const perhaps = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

const lists = fc
  .record(
    {
      tools: someOf(names),
      tool_classes: someOf(classes),
      mcp_servers: someOf(["weather", "mail", "*"]),
      pools: someOf(["default", "gpu"]),
      network_hosts: someOf(["*.example.org:443", "api.example.org:*", "*:443"]),
    },
    { requiredKeys: [] },
  )
  .filter((given) => Object.keys(given).length > 0);

const limits = fc.record({
  max_rounds: fc.integer({ min: 1, max: 50 }),
  budgets: fc.record({ max_llm_calls: fc.integer({ min: 1, max: 100 }) }),
});

const rule = fc.record(
  {
    allow: lists,
    deny: lists,
    grant: fc.constant({ tool_classes: ["execute"] }),
    limits,
  },
  { requiredKeys: ["deny"] },
);

const denyRule = fc.record({ deny: lists });

const policies = fc.array(rule, { maxLength: 4 });

const specs: fc.Arbitrary<SpecInit> = fc
  .record(
    {
      allowedTools: perhaps(someOf(names).map((values) => ({ values: values.map(text) }))),
      excludedTools: someOf(names),
      permissionClasses: someOf(["execute", "secrets", "editor_mutate"]),
      mcpServers: someOf(["weather", "mail"]),
      maxRounds: fc.integer({ min: 1, max: 1_000 }),
      budgets: fc.record({ maxLlmCalls: fc.integer({ min: 1, max: 1_000 }) }),
      hosts: someOf(["api.example.org:443", "*.example.org:443", "other.org:443"]),
    },
    { requiredKeys: [] },
  )
  .map(({ hosts = [], ...spec }) => ({ ...spec, deepAgent: { network: { allow: hosts } } }));

function text(value: string) {
  return { kind: { case: "stringValue" as const, value } };
}

function fileOf(rules: readonly object[]): string {
  return stringify({ rules: rules.map((each, index) => ({ name: `rule-${index}`, ...each })) });
}

const permissive = specOf({
  permissionClasses: ["execute", "secrets"],
  mcpServers: ["weather"],
});

test("no change of a spec gains what the policy withholds", () => {
  fc.assert(
    fc.property(policies, specs, (rules, init) => {
      const policy = decided(fileOf(rules));
      const { tools } = toolbelt(specOf(init), offer.tools, under(policy));
      for (const tool of tools) expect(withheldTool(policy, tool, offer.tools)).toBeUndefined();
      // What a spec may gain at all is what the most permissive one has.
      const most = toolbelt(permissive, offer.tools, under(policy));
      const available = new Set(most.tools.map(({ name }) => name));
      for (const { name } of tools) expect(available).toContain(name);
    }),
  );
});

test("no spec raises a limit above that of the policy, or reaches a host that it withholds", () => {
  fc.assert(
    fc.property(policies, specs, (rules, init) => {
      const policy = decided(fileOf(rules));
      const open = { ...offer, tools: [] };
      const resolved = resolveAgent(specOf(init), open, under(policy));
      const values = limitValues(resolved.limits);
      for (const [field, { max }] of policy.limits) {
        expect(values.get(field)).toBeLessThanOrEqual(max);
      }
      const withheld = new Set(resolved.withheld.map(({ name }) => name));
      for (const host of resolved.network) expect(withheld).not.toContain(host);
    }),
  );
});

test("a further rule that denies never allows more", () => {
  fc.assert(
    fc.property(policies, denyRule, specs, (rules, further, init) => {
      const belt = (all: readonly object[]) =>
        toolbelt(specOf(init), offer.tools, under(decided(fileOf(all)))).tools.map(
          ({ name }) => name,
        );
      const before = new Set(belt(rules));
      for (const name of belt([...rules, further])) expect(before).toContain(name);
    }),
  );
});

test("secrets are the choice of the spec, whatever the policy says", () => {
  fc.assert(
    fc.property(policies, (rules) => {
      const { tools } = toolbelt(specOf(), offer.tools, under(decided(fileOf(rules))));
      const found = tools.filter(
        ({ permissionClass }) => permissionClass === PermissionClass.SECRETS,
      );
      expect(found).toEqual([]);
    }),
  );
});

test("a policy grants execute only where an isolating driver is present", () => {
  const policy = decided("rules: [{ name: a, grant: { tool_classes: [execute] } }]");
  const executing = (isolation: string) =>
    toolbelt(
      specOf(),
      offer.tools.map((catalog) => ({ ...catalog, isolation })),
      under(policy),
    ).tools.filter(({ permissionClass }) => permissionClass === PermissionClass.EXECUTE).length;
  expect(executing("bubblewrap")).toBe(2);
  expect(executing("none")).toBe(0);
});
