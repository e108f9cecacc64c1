import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { describe, expect, test } from "vitest";
import { check } from "../../test/check.ts";
import { offer } from "../../test/offer.ts";
import { permission } from "../../test/permissions.ts";
import { decided, specOf, under } from "../../test/policies.ts";
import { explainAgent } from "../policy/explain-agent.ts";
import { unrestricted } from "../policy/caller-policy.ts";
import { resolveAgent } from "../resolve/resolve-agent.ts";
import { toolbelt } from "../tools/toolbelt.ts";

const section = (json: Parameters<typeof fromJson<typeof ValueSchema>>[1]) => ({
  permission: fromJson(ValueSchema, json),
});

describe("the permission section of an agent", () => {
  // Requirement: RES-10, CFG-10
  test.each([
    ["a text", "sections.permission", "expected object"],
    [{ default_behavior: "alow" }, "sections.permission.default_behavior", "did you mean allow?"],
    [{ rulez: [] }, "sections.permission.rulez", "unknown field"],
    [
      {
        rules: [
          { tool: "grep", behavior: "allow" },
          { tool: "grep(", behavior: "deny" },
        ],
      },
      "sections.permission.rules[1].tool",
      "does not end",
    ],
    [{ rules: [{ tool: "grep" }] }, "sections.permission.rules[0].behavior", "ask, allow, or deny"],
    [{ rules: [{ tool: 7, behavior: "ask" }] }, "sections.permission.rules[0].tool", "a text"],
    [
      { rules: Array.from({ length: 1_001 }, () => ({ tool: "grep", behavior: "ask" })) },
      "sections.permission.rules",
      "more than 1000 rules",
    ],
  ])("%j is refused at %s when the agent is stored, and no run starts", (json, field, problem) => {
    const sections = section(json);
    const [violation] = check({ sections }).violations;
    expect(violation).toMatchObject({ field, reason: "INVALID_PLUGIN_CONFIG" });
    expect(violation?.description).toContain(problem);
    let failure: unknown;
    try {
      resolveAgent(specOf({ sections }), offer, under(unrestricted));
    } catch (error) {
      failure = error;
    }
    expect(failureFrom(failure).message).toContain(`${field}: `);
  });

  // Requirement: RES-9
  test("warns about a rule for a tool that the filter removed, and for one that does not exist", () => {
    const { violations, warnings } = check({
      excludedTools: ["grep"],
      sections: permission("allow", "deny grep(x)", "ask raed_file", "deny read_*", "ask *"),
    });
    expect(violations).toEqual([]);
    expect(warnings).toEqual([
      'sections.permission.rules[0]: "grep(x)" has no effect: the agent does not have grep: the agent\'s tool filter removes it',
      'sections.permission.rules[1]: "raed_file" matches no tool at the moment',
    ]);
  });

  // Requirement: RES-9
  test("warns about a permission rule in a filter", () => {
    const allowedTools = { values: [{ kind: { case: "stringValue" as const, value: "grep(x)" } }] };
    expect(check({ allowedTools }).warnings).toEqual([
      'allowed_tools[0]: "grep(x)" looks like a permission rule; a filter takes only names of tools',
    ]);
  });
});

describe("a tool of which every call is denied", () => {
  const sections = permission("allow", "deny write_*", "deny read_file(*.key)");

  // Requirement: RES-10
  test("is hidden from the model, and explained with the rule", () => {
    const { tools, denied, excluded } = toolbelt(specOf({ sections }), offer.tools);
    const names = tools.map(({ name }) => name);
    expect(names).not.toContain("write_file");
    expect(names).toContain("read_file");
    expect([...denied.keys()]).toEqual(["write_file"]);
    const reason = "the permission rule write_* of the agent denies every call of it";
    expect(excluded.get("write_file")).toBe(reason);
    const { entries } = explainAgent(specOf({ sections }), offer, under(unrestricted));
    expect(entries.find(({ name }) => name === "write_file")).toEqual({
      kind: "tool",
      name: "write_file",
      allowed: false,
      rule: "",
      reason,
    });
  });

  test("by the operator names the rule of the policy", () => {
    const policy = decided(
      "rules: [{ name: base, permission: { rules: [{ tool: grep, behavior: deny }] } }]",
    );
    const { entries } = explainAgent(specOf(), offer, under(policy));
    expect(entries.find(({ name }) => name === "grep")).toMatchObject({
      rule: "base",
      reason:
        'the permission rule grep in the rule "base" of the operator\'s policy denies every call of it',
    });
  });

  test("does not come back because another tool refers to it", () => {
    const withOffload = permission("allow", "deny retrieve_artifact");
    const { tools } = toolbelt(specOf({ sections: withOffload }), [
      create(ToolCatalogSchema, offer.tools[0]),
    ]);
    expect(tools.map(({ name }) => name)).not.toContain("retrieve_artifact");
  });
});

describe("permission rules of the operator's policy", () => {
  test("with unknown roles: an allow holds only if it holds for all callers", () => {
    const text = `
rules:
  - { name: all, permission: { default_behavior: ask } }
  - name: operators
    when: { roles: [operator] }
    permission: { default_behavior: allow, rules: [{ tool: grep, behavior: allow }, { tool: x, behavior: deny }] }`;
    const { permissions } = decided(text, { roles: undefined });
    expect(permissions).toMatchObject([
      { policyRule: "all", defaultBehavior: 1 },
      { policyRule: "operators", defaultBehavior: 0, rules: [{ tool: "x", behavior: 3 }] },
    ]);
  });

  test("are refused with their line", () => {
    const text =
      "rules:\n  - name: a\n    permission:\n      rules:\n        - { tool: 'x(', behavior: deny }";
    expect(() => decided(text)).toThrow(/rules\[0\]\.permission\.rules\[0\]\.tool.*line 5/s);
  });
});
