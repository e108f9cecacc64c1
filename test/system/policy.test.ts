import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import type { RunPrepared } from "@reeve/contracts/run";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { approve, eventOf, expectCompleted, watchToEnd } from "./support/watching.ts";

const folder = mkdtempSync(join(tmpdir(), "reeve-policy-"));
const file = join(folder, "policy.yaml");
const model = "openai:any";
const rubric = "Reject what changes files.";
let models: PlayingServer;
let deployment: Deployment;

beforeAll(async () => {
  writeFileSync(file, "rules: []");
  models = await startPlayingServer(({ system, messages }) => {
    if (system.includes(rubric)) return { text: '{"advice":"approve","reason":"only a list"}' };
    const input = messages.find(({ role }) => role === "user")?.text ?? "";
    if (messages.at(-1)?.role === "tool") return { text: "done" };
    if (input.includes("list the files")) return { calls: [{ name: "list_files", args: {} }] };
    const args = { title: "files", instructions: "list the files" };
    return input.includes("delegate")
      ? { calls: [{ name: "run_subtask", args }] }
      : { text: "done" };
  });
  deployment = await Deployment.start({
    REEVE_POLICY_FILE: file,
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: models.url,
  });
  await deployment.agent("worker", { model });
  await deployment.agent("careful", { model, hitlTools: ["list_files"] });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function start(agentId: string, input: string): Promise<string> {
  const { run } = await deployment.reeve.runs.startRun({ agentId, input });
  return run?.runId ?? "";
}

/** Returns what a worker prepared a run with. */
async function preparedOf(runId: string): Promise<RunPrepared> {
  const { event } = await eventOf(deployment, runId, "runPrepared");
  if (event.case !== "runPrepared") throw new Error("the run was not prepared");
  return event.value;
}

const lists = (behavior: string) =>
  `permission: { default_behavior: allow, rules: [{ tool: list_files, behavior: ${behavior} }] }`;

/** Writes the policy, and waits until the runtime and the gateway have read it. `others` are rules that do not apply to a run without a thread. */
async function setPolicy(name: string, rest: string, ...others: readonly string[]): Promise<void> {
  writeFileSync(file, `rules: [${[`{ name: ${name}, ${rest} }`, ...others].join(", ")}]`);
  await vi.waitFor(
    async () => {
      const { rules } = await deployment.reeve.agents.explainAgent({ agentId: "worker" });
      expect(rules).toEqual([name]);
      const { policy, limits } = await preparedOf(await start("worker", "hello"));
      expect(policy?.rules).toEqual([name]);
      const rounds = /max_rounds: (?<rounds>\d+)/.exec(rest)?.groups?.["rounds"];
      expect(rounds === undefined || limits?.maxRounds === Number(rounds)).toBe(true);
    },
    { timeout: 60_000, interval: 500 },
  );
}

/** Returns the contents of the results of a tool. */
async function resultsOf(runId: string, tool: string): Promise<readonly string[]> {
  const events = await watchToEnd(deployment, runId);
  expectCompleted(events);
  return events.flatMap(({ event }) =>
    event.case === "toolResult" && event.value.result?.name === tool
      ? [event.value.result.content]
      : [],
  );
}

// Requirement: PERM-2
test("a subtask's call that waits while the policy changes is a tool error that names the rule", async () => {
  const runId = await start("careful", "delegate this");
  await eventOf(deployment, runId, "runParked");
  await setPolicy("no-lists", "deny: { tools: [list_files] }");
  await approve(deployment, runId);
  expect(await resultsOf(runId, "list_files")).toEqual([
    'the call was cancelled: the rule "no-lists" of the operator\'s policy withholds the tool list_files',
  ]);
});

test("a run has the tools and the limits that the policy leaves, and its log says what is missing", async () => {
  await setPolicy("small", "deny: { tool_classes: [workspace_write] }, limits: { max_rounds: 2 }");
  const prepared = await preparedOf(await start("worker", "hello"));
  expect(prepared.tools.map(({ name }) => name)).not.toContain("read_file");
  expect(prepared.limits?.maxRounds).toBe(2);
  expect(prepared.policy?.withheld).toContainEqual(
    expect.objectContaining({ tool: "read_file", kind: "tool_classes", rule: "small" }),
  );
});

// Requirement: RES-10
test("a permission rule of the policy requests an approval that names it, and an agent cannot allow it", async () => {
  await deployment.agent("permissive", {
    model,
    sections: { permission: fromJson(ValueSchema, { default_behavior: "allow" }) },
  });
  await setPolicy("asks", "permission: { rules: [{ tool: list_files, behavior: ask }] }");
  const runId = await start("permissive", "delegate this");
  const { event } = await eventOf(deployment, runId, "approval");
  expect(event.value).toMatchObject({
    approval: { permission: { rule: "list_files", source: "policy", policyRule: "asks" } },
  });
  await approve(deployment, runId);
  expect(await resultsOf(runId, "list_files")).toHaveLength(1);
});

// Requirement: RES-10, HITL-2
test("a permission rule of the policy holds for its tenants and contexts, and for no others", async () => {
  await setPolicy(
    "shared",
    "limits: { max_rounds: 9 }",
    `{ name: in-threads, when: { tenants: [acme], contexts: [thread] }, ${lists("ask")} }`,
    `{ name: of-others, when: { tenants: [globex] }, ${lists("deny")} }`,
  );
  expect(await resultsOf(await start("worker", "delegate this"), "list_files")).toHaveLength(1);
  const { run } = await deployment.reeve.runs.startRun({
    agentId: "worker",
    input: "delegate this",
    threadId: "policy",
  });
  const inThread = run?.runId ?? "";
  const { event } = await eventOf(deployment, inThread, "approval");
  expect(event.value).toMatchObject({
    approval: { permission: { rule: "list_files", source: "policy", policyRule: "in-threads" } },
  });
  // The denial blocks the call that was asked for before: rules are evaluated again before the execution.
  await setPolicy(
    "shared",
    "limits: { max_rounds: 8 }",
    `{ name: in-threads, when: { tenants: [acme], contexts: [thread] }, ${lists("deny")} }`,
  );
  await approve(deployment, inThread);
  expect(await resultsOf(inThread, "list_files")).toEqual([expect.stringContaining("in-threads")]);
});

test("a model decides on a call whose class the policy of the agent names, and the log names it", async () => {
  const votes = { classes: ["workspace_write"] };
  await deployment.agent("reviewed", {
    model,
    hitlTools: ["list_files"],
    approvalPolicy: { reviewer: { rubric, votes } },
  });
  await setPolicy("free", "limits: { max_rounds: 7 }");
  const runId = await start("reviewed", "list the files");
  expect(await resultsOf(runId, "list_files")).toHaveLength(1);
  const events = await watchToEnd(deployment, runId);
  const decided = events.findLast(({ event }) => event.case === "approval");
  expect(decided?.event.value).toMatchObject({
    approval: {
      decision: { approved: true, reason: "only a list", reviewer: { model: expect.any(String) } },
    },
  });
});

test("an agent whose permission rules cannot be parsed is refused with their path", async () => {
  const rules = [{ tool: "list_files(", behavior: "deny" }];
  const sections = { permission: fromJson(ValueSchema, { default_behavior: "allow", rules }) };
  const spec = { model, sections };
  const failure = failureFrom(await deployment.agent("broken", spec).catch((e: unknown) => e));
  expect(failure.violations).toMatchObject([{ field: "spec.sections.permission.rules[0].tool" }]);
});

// Requirement: PERM-3
test("the policy grants execute to an agent that does not name it", async () => {
  await setPolicy("code", "grant: { tool_classes: [execute] }");
  const prepared = await preparedOf(await start("worker", "hello"));
  expect(prepared.tools.map(({ name }) => name)).toContain("execute_code");
});

test("a run whose provider is withheld does not start", async () => {
  await setPolicy("others", "deny: { tools: [none] }");
  writeFileSync(file, "rules: [{ name: closed, deny: { providers: [openai] } }]");
  await vi.waitFor(
    async () => {
      const failure = failureFrom(await start("worker", "hello").catch((error: unknown) => error));
      expect(failure.metadata).toMatchObject({ rule: "closed", kind: "providers" });
    },
    { timeout: 60_000, interval: 500 },
  );
});
