import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
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
const patient = { timeout: 60_000 };
const rubric = "Reject what changes files.";
/** What people were told, as the bodies of webhooks. */
const told: string[] = [];
const receiver = createServer((request, response) => void tell(request, response));
let models: PlayingServer;
let deployment: Deployment;

beforeAll(async () => {
  writeFileSync(file, "rules: []");
  models = await startPlayingServer(({ system, messages }) => {
    if (system.includes(rubric)) return { text: '{"advice":"approve","reason":"only a list"}' };
    const input = messages.find(({ role }) => role === "user")?.text ?? "";
    if (messages.at(-1)?.role === "tool") return { text: "done" };
    if (input.includes("list the files")) {
      const args = input.includes("in out") ? { path: "out" } : {};
      return { calls: [{ name: "list_files", args }] };
    }
    const args = { title: "files", instructions: "list the files" };
    return input.includes("delegate")
      ? { calls: [{ name: "run_subtask", args }] }
      : { text: "done" };
  });
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  // A TCP listener has an address and a port.
  const { port } = receiver.address() as AddressInfo;
  deployment = await Deployment.start(
    {
      REEVE_POLICY_FILE: file,
      REEVE_PUBLIC_URL: "https://reeve.example.com",
      NOTIFY_SECRET: `whsec_${randomBytes(32).toString("base64")}`,
      OPENAI_API_KEY: "k",
      OPENAI_BASE_URL: models.url,
    },
    {
      REEVE_NOTIFY: `
receivers:
  - name: people
    format: standard
    url: http://127.0.0.1:${port}/
    secret: { environment: NOTIFY_SECRET }
`,
    },
  );
  await deployment.agent("worker", { model });
  await deployment.agent("careful", { model, hitlTools: ["list_files"] });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
  receiver.close();
  receiver.closeAllConnections();
  rmSync(folder, { recursive: true });
});

async function tell(request: IncomingMessage, response: ServerResponse): Promise<void> {
  told.push(await text(request));
  response.end();
}

/** Returns what people are notified of a run, without repetitions. */
function noticesOf(runId: string): readonly string[] {
  const bodies = told.filter((body) => body.includes(runId));
  const types = bodies.map((body) => (JSON.parse(body) as { readonly type: string }).type);
  return [...new Set(types)].toSorted();
}

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
test("a call that a permission rule denies is refused before anybody is asked or notified", async () => {
  const denies = `{ tool: 'list_files(path !~ "out*")', behavior: deny }`;
  await setPolicy("bounded", `permission: { default_behavior: allow, rules: [${denies}] }`);
  const denied = await start("careful", "list the files");
  expect(await resultsOf(denied, "list_files")).toEqual([expect.stringContaining('"bounded"')]);
  const events = await watchToEnd(deployment, denied);
  expect(events.filter(({ event }) => event.case === "approval")).toEqual([]);
  const asked = await start("careful", "list the files in out");
  await expect.poll(() => noticesOf(asked), patient).toEqual(["approval.requested"]);
  await approve(deployment, asked);
  expect(await resultsOf(asked, "list_files")).toHaveLength(1);
  const both = ["approval.requested", "approval.resolved"];
  await expect.poll(() => noticesOf(asked), patient).toEqual(both);
  expect(noticesOf(denied)).toEqual([]);
});

// Requirement: RES-10
test("a tool of which the rules of an agent deny every call is hidden from its model", async () => {
  const rules = [{ tool: "list_files", behavior: "deny" }];
  const permission = fromJson(ValueSchema, { default_behavior: "allow", rules });
  await deployment.agent("blind", { model, sections: { permission } });
  const { tools } = await preparedOf(await start("blind", "hello"));
  const names = tools.map(({ name }) => name);
  expect(names).toContain("read_file");
  expect(names).not.toContain("list_files");
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

test("a model decides where a rule of its agent asks, on a class that the agent's policy names, and the log names it", async () => {
  const votes = { classes: ["workspace_write"] };
  await deployment.agent("reviewed", {
    model,
    sections: {
      permission: fromJson(ValueSchema, {
        default_behavior: "allow",
        rules: [{ tool: "list_files", behavior: "ask" }],
      }),
    },
    approvalPolicy: { reviewer: { rubric, votes } },
  });
  await setPolicy("free", "limits: { max_rounds: 7 }");
  const runId = await start("reviewed", "list the files");
  expect(await resultsOf(runId, "list_files")).toHaveLength(1);
  const events = await watchToEnd(deployment, runId);
  const decided = events.findLast(({ event }) => event.case === "approval");
  expect(decided?.event.value).toMatchObject({
    approval: {
      permission: { rule: "list_files", askingSources: ["agent"] },
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
