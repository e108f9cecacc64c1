import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { Role } from "@reeve/contracts/access/role";
import { emptyTail } from "@reeve/jetstream/log/port";
import { openRunLog } from "@reeve/jetstream/log/open";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { BenchWithAgent } from "./support/bench-with-agent.ts";
import { openBenchWithAgent, specOf } from "./support/bench-with-agent.ts";
import { clientsOf, refusalOf } from "./support/clients.ts";
import { tokenWithRole } from "./support/gateway-bench.ts";

const folder = mkdtempSync(join(tmpdir(), "reeve-policy-"));
const file = join(folder, "policy.yaml");
const never = new AbortController().signal;
let bench: BenchWithAgent;

beforeAll(async () => {
  writeFileSync(file, "rules: []");
  bench = await openBenchWithAgent({ REEVE_POLICY_FILE: file });
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** Writes the policy, and waits until the gateway has read it. */
async function setPolicy(rules: string): Promise<void> {
  const marker = `m${version++}`;
  writeFileSync(file, `rules:\n  - { name: ${marker}, deny: { tools: [marker] } }\n${rules}`);
  await vi.waitFor(
    async () => {
      const { rules: known } = await bench.acme.agents.explainAgent({ agentId: "known" });
      expect(known).toContain(marker);
    },
    { timeout: 20_000 },
  );
}

let version = 0;

const fieldsOf = (id: string) => ({ id, name: id, model: "known" });

const as = (role: string) => clientsOf(bench.url, `Bearer ${tokenWithRole(role)}`, "gRPC");
const start = { agentId: "known", input: "hello" };

// Requirement: PERM-2
test("a run whose model is withheld is refused with the name of the rule, and another tenant is not", async () => {
  await bench.globex.agents.createAgent({ spec: specOf("known") });
  await setPolicy("  - { name: no-known, when: { tenants: [acme] }, deny: { models: [known] } }");
  const refusal = await refusalOf(bench.acme.runs.startRun(start));
  expect(refusal).toMatchObject({
    kind: "denied",
    reason: "POLICY_DENIED",
    metadata: { rule: "no-known", kind: "models", name: "known" },
    fields: ["model POLICY_DENIED"],
  });
  expect((await bench.globex.runs.startRun(start)).run?.runId).toBeTruthy();
});

test("a rule for a role applies to callers with that role", async () => {
  await setPolicy("  - { name: runners, when: { roles: [operator] }, deny: { models: [known] } }");
  expect((await as("runner").runs.startRun(start)).run?.runId).toBeTruthy();
  const refusal = await refusalOf(bench.acme.runs.startRun(start));
  expect(refusal).toMatchObject({ reason: "POLICY_DENIED", metadata: { rule: "runners" } });
});

test("the log of a run names the roles of who started it", async () => {
  await setPolicy("");
  const { run } = await as("runner").runs.startRun(start);
  const log = await openRunLog(bench.nats);
  const key = { tenant: "acme", run: run?.runId ?? "" };
  const { events } = await log.read(key, emptyTail, never);
  expect(events[0]?.event.value).toMatchObject({ startedByRoles: [Role.RUNNER], hasPolicy: true });
});

// Requirement: PERM-2
test("an agent that needs what is withheld from every caller is not saved", async () => {
  await setPolicy(`  - { name: closed, deny: { tool_classes: [execute], models: [known] } }
  - { name: hosts, allow: { network_hosts: ["*.example.org:443"] } }`);
  const spec = create(AgentSpecSchema, {
    ...fieldsOf("greedy"),
    permissionClasses: ["execute"],
    deepAgent: { network: { allow: ["evil.org:443"] } },
  });
  const refusal = await refusalOf(bench.acme.agents.createAgent({ spec }));
  expect(refusal).toMatchObject({ kind: "invalid", reason: "INVALID_AGENT" });
  expect(refusal.fields).toEqual(
    expect.arrayContaining([
      "spec.model POLICY_DENIED",
      "spec.permission_classes[0] POLICY_DENIED",
      "spec.deep_agent.network.allow[0] POLICY_DENIED",
    ]),
  );
  expect(refusal.message).toContain('the rule "closed" of the operator');
  const { violations } = await bench.acme.agents.validateAgent({ spec });
  expect(violations.map(({ field }) => field)).toContain("model");
});

test("tools that are withheld and limits that are lowered are warnings", async () => {
  await setPolicy("  - { name: small, deny: { tools: [read_file] }, limits: { max_rounds: 2 } }");
  const spec = create(AgentSpecSchema, { ...fieldsOf("eager"), maxRounds: 9 });
  const { warnings } = await bench.acme.agents.createAgent({ spec });
  expect(warnings.join("\n")).toContain('the agent does not have read_file: the rule "small"');
  expect(warnings.join("\n")).toContain("max_rounds is lowered from 9 to 2");
});

test("an agent that some callers may run is saved", async () => {
  await setPolicy("  - { name: threads, when: { contexts: [thread] }, deny: { models: [known] } }");
  await bench.acme.agents.createAgent({ spec: specOf("elsewhere") });
  const there = { ...start, agentId: "elsewhere" };
  expect((await bench.acme.runs.startRun(there)).run?.runId).toBeTruthy();
  const refusal = await refusalOf(bench.acme.runs.startRun({ ...there, threadId: "t" }));
  expect(refusal).toMatchObject({ reason: "POLICY_DENIED" });
});

const explain = (roles: Role[]) =>
  bench.acme.agents.explainAgent({ agentId: "known", roles, context: "thread" });

test("an explanation names what a caller may use, and only the rules that apply", async () => {
  await setPolicy(`  - { name: files, when: { roles: [runner] }, deny: { tools: [read_file] } }
  - { name: operators, when: { roles: [operator] }, deny: { tools: [grep] } }
  - { name: others, when: { tenants: [globex] }, deny: { tools: ["*"] } }
  - { name: small, limits: { budgets: { max_cost_usd: 1, max_wall_clock: 60s } } }`);
  const forRunner = await explain([Role.RUNNER]);
  const readFile = { kind: "tool", name: "read_file" };
  expect(forRunner.entries).toContainEqual(
    expect.objectContaining({ ...readFile, allowed: false, rule: "files" }),
  );
  expect(forRunner.rules.slice(1)).toEqual(["files", "small"]);
  expect(forRunner.policyLimits).toMatchObject([
    { field: "budgets.max_wall_clock", max: 60, rule: "small" },
    { field: "budgets.max_cost_usd", max: 1, rule: "small" },
  ]);
  expect(forRunner.limits?.budgets?.maxCostUsd).toBe(1);
  // Nobody starts runs without the role runner.
  const forAuthor = await explain([Role.AUTHOR]);
  expect(forAuthor.rules).toEqual(forRunner.rules);
  expect(forAuthor.entries).toEqual(forRunner.entries);
  expect(forAuthor.entries).toContainEqual(
    expect.objectContaining({ kind: "model", name: "known", allowed: true }),
  );
  expect(forAuthor.entries).toContainEqual(
    expect.objectContaining({ kind: "pool", name: "default", allowed: true }),
  );
});

const inThread = (threadId: string, context = "") =>
  bench.acme.agents.explainAgent({ agentId: "known", threadId, context });

test("an explanation for a thread has the rules for that thread", async () => {
  await setPolicy(
    `  - { name: audit, when: { threads: ["audit-*"] }, deny: { tools: [read_file] } }`,
  );
  expect((await inThread("audit-1")).rules).toContain("audit");
  expect((await inThread("sales")).rules).not.toContain("audit");
  expect((await inThread("")).rules).not.toContain("audit");
  await expect(inThread("audit-1", "plain")).rejects.toThrow("leave context out");
});
