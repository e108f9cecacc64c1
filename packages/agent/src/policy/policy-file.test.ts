import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { maxTokens } from "../spec/message-file.ts";
import { parsePolicyFile } from "./policy-file.ts";

const whole = `
rules:
  - name: base
    when: { tenants: ["acme", "team-*"], roles: [runner, viewer], contexts: [plain, thread, editor], threads: ["ops-*"] }
    allow:
      tool_classes: [safe, "workspace_*"]
      tools: ["*"]
      mcp_servers: [weather]
      providers: [openai]
      models: ["openai:gpt-*"]
      network_hosts: ["*.example.org:443"]
      images: ["python:*"]
      pools: [default]
    deny: { tools: [run_command] }
    grant: { tool_classes: [execute] }
    limits: { max_rounds: 5, budgets: { max_cost_usd: 1.5, max_wall_clock: 60s } }
`;

test("a file with every field is read", () => {
  const [rule] = parsePolicyFile(whole, "policy.yaml").rules;
  expect(rule?.name).toBe("base");
  expect(rule?.tenants?.map((pattern) => pattern.matches("team-red"))).toEqual([false, true]);
  expect(rule?.threads?.map((given) => given.matches("ops-1"))).toEqual([true]);
  expect([...(rule?.contexts ?? [])]).toEqual(["plain", "thread", "editor"]);
  expect(rule?.allow.network_hosts?.map(({ text }) => text)).toEqual(["*.example.org:443"]);
  expect(rule?.limits).toMatchObject({ maxRounds: 5, budgets: { maxCostUsd: 1.5 } });
});

test("a file without rules allows everything", () => {
  expect(parsePolicyFile("rules: []", "policy.yaml").rules).toEqual([]);
});

/** The effect of a rule that is only there to be valid otherwise. */
const effect = "deny: { tools: [x] }";

test.each([
  ["a: 1", "a", "line 1: unknown field"],
  ["rulez: []\nrules: []", "rulez", "line 1: unknown field; did you mean rules?"],
  ["version: 1", "rules", "Invalid input"],
  ["rules: 3", "rules", "line 1: Invalid input"],
  [`rules:\n  - ${effect}`, "rules[0].name", "line 2: Invalid input"],
  [`rules:\n  - { name: A, ${effect} }`, "rules[0].name", "line 2: is not a name"],
  [`rules:\n  - { name: a }`, "rules[0]", "line 2: has no effect"],
  [
    `rules:\n  - { name: a, ${effect} }\n  - { name: a, ${effect} }`,
    "rules[1].name",
    'line 3: "a" is the name of an earlier rule',
  ],
  [
    "rules:\n  - name: a\n    deny:\n      tool: [x]",
    "rules[0].deny.tool",
    "line 4: unknown field; did you mean tools?",
  ],
  [
    "rules:\n  - name: a\n    deny:\n      sizes: [x]",
    "rules[0].deny.sizes",
    "line 4: unknown field",
  ],
  ["rules:\n  - name: a\n    allow: { tools: [] }", "rules[0].allow.tools", "line 3: is empty"],
  [
    'rules:\n  - name: a\n    deny:\n      tools: ["x\\\\"]',
    "rules[0].deny.tools[0]",
    'line 4: "x\\" ends with an escape character',
  ],
  ["rules:\n  - name: a\n    allow: {}", "rules[0].allow", "line 3: lists nothing"],
  ['rules:\n  - name: a\n    deny: { tools: [""] }', "rules[0].deny.tools[0]", "line 3: is empty"],
  [
    "rules:\n  - name: a\n    deny: { tool_classes: [exec] }",
    "rules[0].deny.tool_classes[0]",
    'line 3: "exec" is no class; ',
  ],
  [
    "rules:\n  - name: a\n    deny: { network_hosts: [example.org] }",
    "rules[0].deny.network_hosts[0]",
    'line 3: "example.org" is not host:port',
  ],
  [
    "rules:\n  - name: a\n    grant: { tool_classes: [secrets] }",
    "rules[0].grant.tool_classes[0]",
    'line 3: "secrets" cannot be granted',
  ],
  [
    `rules:\n  - { name: a, ${effect}, when: { roles: [runer] } }`,
    "rules[0].when.roles[0]",
    'line 2: "runer" is no role; did you mean runner?',
  ],
  [
    `rules:\n  - { name: a, ${effect}, when: { contexts: [chat] } }`,
    "rules[0].when.contexts[0]",
    'line 2: "chat" is no context; ',
  ],
  [
    `rules:\n  - { name: a, ${effect}, when: { tenant: [x] } }`,
    "rules[0].when.tenant",
    "line 2: unknown field; did you mean tenants?",
  ],
  [
    "rules:\n  - name: a\n    limits: { max_cost_usd: 1 }",
    "rules[0].limits.max_cost_usd",
    "line 3: ",
  ],
  [
    "rules:\n  - name: a\n    limits: { budgets: { max_depth: 101 } }",
    "rules[0].limits.budgets.max_depth",
    "line 3: ",
  ],
  ["rules:\n  - name: a\n    limits: {}", "rules[0].limits", "line 3: sets no limit"],
  [
    "rules:\n  - name: a\n    limits:\n      max_rounds: 5\n      budgets:\n        max_total_tokens: null",
    "rules[0].limits.budgets.max_total_tokens",
    "line 6: has no value",
  ],
  [
    "rules:\n  - name: a\n    limits:\n      max_rounds: 5\n      budgets:",
    "rules[0].limits.budgets",
    "line 5: has no value",
  ],
  [
    "rules:\n  - name: a\n    limits: { max_round: null }",
    "rules[0].limits.max_round",
    "line 3: unknown field",
  ],
  ["rules: []\nrules: []", "line 2", "the key "],
  ["rules: [", "line 1", "Flow sequence"],
  ["- a", "", "the file is not a mapping"],
])("%j is refused", (text, field, problem) => {
  const failure = refusalOf(text);
  expect(failure.message).toMatch(/^policy\.yaml is not a valid policy: /);
  const found = failure.violations.find((violation) => violation.field === field);
  expect(found?.description).toContain(problem);
});

test("all problems of a file are listed at once", () => {
  const text = "x: 1\nrules:\n  - name: a\n    deny: { tools: [], pool: [a] }";
  expect(refusalOf(text).violations.map(({ field }) => field)).toEqual([
    "rules[0].deny.tools",
    "rules[0].deny.pool",
    "x",
  ]);
});

function refusalOf(text: string): Failure {
  try {
    parsePolicyFile(text, "policy.yaml");
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error("the file was accepted");
}

/** Returns the violations of a file. */
function violationsIn(text: string) {
  try {
    parsePolicyFile(text, "policy.yaml");
  } catch (error) {
    if (error instanceof Failure) return error.violations;
    throw error;
  }
  throw new Error("the file was accepted");
}

test("a file with too many rules is refused without a look into them", () => {
  const text = `rules:\n${"  - { nam: x, allow: 1 }\n".repeat(500)}`;
  expect(violationsIn(text).map(({ field, description }) => `${field} ${description}`)).toEqual([
    "rules has 500 rules, more than 200",
  ]);
});

test("a file with 25,000 malformed rules is refused after a bounded number of tokens", () => {
  const text = `rules:\n${"  - { nam: x, allow: 1 }\n".repeat(25_000)}`;
  expect(violationsIn(text).map(({ reason, description }) => `${reason} ${description}`)).toEqual([
    `TOO_LARGE the file has more than ${maxTokens} names, values, and marks`,
  ]);
  // Long texts are few tokens.
  const long = `rules:\n  - { name: x, allow: { tools: ["${"x".repeat(maxTokens)}"] } }\n`;
  expect(violationsIn(long).map(({ description }) => description)).toEqual([
    "line 2: has more than 255 characters",
  ]);
});

test("of a file with many mistakes, some are listed with their lines, and the others counted", () => {
  const text = `rules:\n${"  - { nam: x, allow: 1 }\n".repeat(200)}`;
  const violations = violationsIn(text);
  expect(violations).toHaveLength(201);
  expect(violations.at(-1)?.description).toBe("has 400 more mistakes");
});
