import { create } from "@bufbuild/protobuf";
import { Role } from "@reeve/contracts/access/role";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import { PermissionClass, ToolCatalogSchema, ToolDescriptorSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { tool } from "../../test/offer.ts";
import { decided } from "../../test/policies.ts";
import { parseNetworkEntry } from "../spec/network-entry.ts";
import type { CallerPolicy } from "./caller-policy.ts";
import {
  policyFor,
  policyForTenant,
  withheldHost,
  withheldModel,
  withheldTool,
} from "./caller-policy.ts";
import type { NamePattern } from "../tools/name-pattern.ts";
import { parsePolicyFile } from "./policy-file.ts";
import type { PolicyRule } from "./policy.ts";
import { runContexts } from "./policy.ts";

function ruleFor(policy: CallerPolicy, name: string, init: Parameters<typeof tool>[1] = {}) {
  return withheldTool(policy, create(ToolDescriptorSchema, tool(name, init)), catalogs)?.rule;
}

/** Two hosts of the pool `default`, of which one has another image. */
const catalogs = ["python:3.13", "registry.example/team:1"].map((image) =>
  create(ToolCatalogSchema, { pool: "default", isolation: "docker", sandbox: { image } }),
);

/** Returns the rule that withholds a destination. */
function hostRule(policy: CallerPolicy, text: string): string | undefined {
  const entry = parseNetworkEntry(text, "agent");
  if (entry === undefined) throw new Error(`${text} is no destination`);
  return withheldHost(policy, entry)?.rule;
}

describe("the lists of rules", () => {
  test("a rule that denies wins over all that allow", () => {
    const policy = decided(`
rules:
  - { name: open, allow: { tools: ["*"] } }
  - { name: no-shell, deny: { tools: ["run_*"] } }`);
    expect(ruleFor(policy, "run_command")).toBe("no-shell");
    expect(ruleFor(policy, "read_file")).toBeUndefined();
  });

  test("where rules list what they allow, only what one of them lists is allowed", () => {
    const policy = decided(`
rules:
  - { name: files, allow: { tools: ["*_file"] } }
  - { name: search, allow: { tools: [grep] } }`);
    expect(ruleFor(policy, "read_file")).toBeUndefined();
    expect(ruleFor(policy, "grep")).toBeUndefined();
    expect(ruleFor(policy, "publish_report")).toBe("files, search");
  });

  test("a list of one kind says nothing about another", () => {
    const policy = decided("rules: [{ name: a, allow: { pools: [default] } }]");
    expect(ruleFor(policy, "read_file")).toBeUndefined();
    expect(ruleFor(policy, "read_file", { pool: "gpu" })).toBe("a");
    // Tools of the runtime are in no pool.
    expect(ruleFor(policy, "write_todos", { pool: "" })).toBeUndefined();
  });

  test("a tool is withheld for its class, its server, and its pool", () => {
    const policy = decided(`
rules:
  - { name: classes, deny: { tool_classes: [execute] } }
  - { name: servers, allow: { mcp_servers: [weather] } }`);
    const execute = { permissionClass: PermissionClass.EXECUTE };
    expect(ruleFor(policy, "run_command", execute)).toBe("classes");
    expect(ruleFor(policy, "mcp__mail__send", { source: "mcp:mail" })).toBe("servers");
    expect(ruleFor(policy, "mcp__weather__now", { source: "mcp:weather" })).toBeUndefined();
  });

  test("a tool that works in a sandbox is withheld for any image of its pool", () => {
    const policy = decided('rules: [{ name: ours, allow: { images: ["python:*"] } }]');
    const execute = { permissionClass: PermissionClass.EXECUTE };
    expect(ruleFor(policy, "run_command", execute)).toBe("ours");
    expect(ruleFor(policy, "run_command", { ...execute, pool: "without" })).toBeUndefined();
    expect(ruleFor(policy, "publish_report")).toBeUndefined();
    const both = decided('rules: [{ name: ours, allow: { images: ["python:*", "*team:1"] } }]');
    expect(ruleFor(both, "run_command", execute)).toBeUndefined();
  });

  test("a model is withheld for its provider and under each of its names", () => {
    const model = create(ModelSpecSchema, { id: "big", provider: "openai", upstreamName: "gpt-5" });
    for (const list of ["providers: [openai]", "models: [big]", 'models: ["openai:gpt-*"]']) {
      const policy = decided(`rules: [{ name: a, deny: { ${list} } }]`);
      expect(withheldModel(policy, model, [model])?.rule).toBe("a");
    }
    // Another id of the same model gets around no rule that denies one, and is in no list that names the other.
    const other = create(ModelSpecSchema, { ...model, id: "default" });
    for (const part of ["deny", "allow"]) {
      const policy = decided(`rules: [{ name: a, ${part}: { models: [big] } }]`);
      expect(withheldModel(policy, other, [model, other])?.rule).toBe("a");
    }
    const allowed = decided('rules: [{ name: a, allow: { models: ["openai:gpt-5"] } }]');
    expect(withheldModel(allowed, model, [model])).toBeUndefined();
  });

  test("an IPv4 address is denied in each of its forms", () => {
    const policy = decided('rules: [{ name: a, deny: { network_hosts: ["93.184.216.34:443"] } }]');
    for (const text of ["93.184.216.34:443", "[::ffff:93.184.216.34]:443"]) {
      const entry = parseNetworkEntry(text, "agent");
      expect(entry && withheldHost(policy, entry)?.rule).toBe("a");
    }
  });

  test("a host is allowed if one entry includes it, and denied if an entry overlaps it", () => {
    const policy = decided(`
rules:
  - { name: allowed, allow: { network_hosts: ["*.example.org:443", "203.0.113.7:*"] } }
  - { name: denied, deny: { network_hosts: ["secret.example.org:*"] } }`);
    expect(hostRule(policy, "api.example.org:443")).toBeUndefined();
    expect(hostRule(policy, "203.0.113.7:8080")).toBeUndefined();
    expect(hostRule(policy, "example.org:443")).toBe("allowed");
    expect(hostRule(policy, "api.example.org:80")).toBe("allowed");
    expect(hostRule(policy, "secret.example.org:443")).toBe("denied");
    expect(hostRule(policy, "*.example.org:443")).toBe("denied");
    expect(hostRule(policy, "*.secret.example.org:443")).toBeUndefined();
  });

  test("a limit is the lowest that a rule sets", () => {
    const policy = decided(`
rules:
  - { name: a, limits: { max_rounds: 9, budgets: { max_cost_usd: 2 } } }
  - { name: b, limits: { max_rounds: 5 } }
  - { name: others, when: { tenants: [globex] }, limits: { max_rounds: 1 } }`);
    expect(Object.fromEntries(policy.limits)).toEqual({
      max_rounds: { max: 5, rule: "b" },
      "budgets.max_cost_usd": { max: 2, rule: "a" },
    });
  });
});

const rules = (when: string) => `rules: [{ name: a, when: { ${when} }, deny: { tools: ["*"] } }]`;

describe("the conditions of a rule", () => {
  test("must all match", () => {
    const text = rules("tenants: [ac*], contexts: [thread], roles: [author, operator]");
    const author = new Set([Role.RUNNER, Role.AUTHOR]);
    expect(decided(text, { context: "thread", roles: author }).rules).toEqual(["a"]);
    expect(decided(text, { context: "plain", roles: author }).rules).toEqual([]);
    expect(decided(text, { context: "thread" }).rules).toEqual([]);
    expect(decided(text, { context: "thread", roles: author, tenant: "b" }).rules).toEqual([]);
  });

  // Requirement: HITL-2
  test("name threads by patterns, which a run without a thread does not match", () => {
    const text = rules('threads: ["ops-*", audit]');
    const inThread = (threadId: string) => decided(text, { context: "thread", threadId }).rules;
    expect(inThread("ops-1")).toEqual(["a"]);
    expect(inThread("audit")).toEqual(["a"]);
    expect(inThread("audits")).toEqual([]);
    expect(decided(rules('threads: ["*"]')).rules).toEqual([]);
    expect(decided(text, { context: "editor", threadId: "audit" }).rules).toEqual(["a"]);
  });

  test("every role includes viewer", () => {
    expect(decided(rules("roles: [viewer]")).rules).toEqual(["a"]);
  });

  test("a caller of unknown roles has only what every caller has", () => {
    const text = `
rules:
  - { name: runners, when: { roles: [runner] }, allow: { tools: [grep] } }
  - { name: operators, when: { roles: [operator] }, allow: { tools: ["*"] }, grant: { tool_classes: [execute] } }
  - { name: authors, when: { roles: [author] }, deny: { tools: [read_file] }, limits: { max_rounds: 2 } }`;
    const unknown = decided(text, { roles: undefined });
    expect(ruleFor(unknown, "grep")).toBeUndefined();
    expect(ruleFor(unknown, "write_file")).toBe("runners");
    expect(unknown.grants.size).toBe(0);
    expect(unknown.limits.get("max_rounds")?.max).toBe(2);
    expect(ruleFor(decided(text, { roles: new Set([Role.OPERATOR]) }), "write_file")).toBe(
      undefined,
    );
  });
});

describe("the policy of a tenant", () => {
  const text = `
rules:
  - { name: acme, when: { tenants: [acme] }, deny: { tools: [read_file] } }
  - { name: threads, when: { contexts: [thread] }, deny: { tools: [grep] } }
  - { name: not-operators, when: { roles: [runner] }, limits: { max_rounds: 5 } }
  - { name: editors, when: { contexts: [editor] }, limits: { max_rounds: 3 }, grant: { tool_classes: [execute] } }`;

  test("withholds what every caller of the tenant lacks", () => {
    const policy = policyForTenant(parsePolicyFile(text, "p"), "acme");
    expect(ruleFor(policy, "read_file")).toBe("acme");
    expect(ruleFor(policy, "grep")).toBeUndefined();
    expect(policy.limits.get("max_rounds")?.max).toBe(5);
    expect([...policy.grants]).toEqual([PermissionClass.EXECUTE]);
  });

  test("withholds nothing that only the runs of some threads lack or have", () => {
    const threads = `
rules:
  - { name: files, allow: { tools: ["*_file"] } }
  - { name: ops, when: { threads: ["ops-*"] }, allow: { tools: [grep] }, grant: { tool_classes: [execute] } }
  - { name: audit, when: { threads: [audit] }, deny: { tools: [read_file] }, limits: { max_rounds: 2 } }`;
    const policy = policyForTenant(parsePolicyFile(threads, "p"), "acme");
    expect(ruleFor(policy, "read_file")).toBeUndefined();
    expect(ruleFor(policy, "grep")).toBeUndefined();
    expect(ruleFor(policy, "publish_report")).toBe("files");
    expect([...policy.grants]).toEqual([PermissionClass.EXECUTE]);
    expect(policy.limits.size).toBe(0);
  });

  test("names no rule of another tenant", () => {
    const policy = policyForTenant(parsePolicyFile(text, "p"), "globex");
    expect(policy.rules).not.toContain("acme");
    expect(ruleFor(policy, "read_file")).toBeUndefined();
  });
});

test("no policy withholds nothing", () => {
  expect(policyForTenant(undefined, "acme").withheld({ kind: "tools", names: ["x"] })).toBe(
    undefined,
  );
});

test("a thing is matched with each pattern once for all callers of a tenant, however many roles and contexts there are", () => {
  let matches = 0;
  const counted: NamePattern = {
    text: "counted",
    matches: () => {
      matches++;
      return false;
    },
  };
  const { RUNNER, APPROVER, AUTHOR, OPERATOR } = Role;
  const roles = [RUNNER, APPROVER, AUTHOR, OPERATOR];
  const rules = Array.from({ length: 20 }, (_, index): PolicyRule => ({
    name: `r${index}`,
    tenants: undefined,
    roles: new Set([roles[index % roles.length] ?? RUNNER]),
    contexts: new Set([runContexts[index % runContexts.length] ?? "plain"]),
    threads: undefined,
    allow: { tools: [counted] },
    deny: { tools: [counted] },
    grant: new Set(),
    limits: undefined,
    permission: undefined,
  }));
  const item = { kind: "tools", names: ["read_file"] } as const;
  expect(policyForTenant({ rules }, "acme").withheld(item)?.rule).toContain("r0");
  expect(matches).toBe(40);
  policyFor(
    { rules },
    { tenant: "acme", roles: undefined, context: "plain", threadId: "" },
  ).withheld(item);
  expect(matches).toBeLessThanOrEqual(80);
});
