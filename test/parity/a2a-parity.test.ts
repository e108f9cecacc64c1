import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RunStatus } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { A2aBackend } from "./support/a2a-backend.ts";
import { a2aBackend } from "./support/a2a-backend.ts";
import type { Scenario } from "./support/backend.ts";
import type { Trace } from "./support/normalized.ts";
import { normalized } from "./support/normalized.ts";
import { scenarios } from "./support/scenarios.ts";

/** What an agent elsewhere would ignore, by the name with which it is refused: of its spec, and of the start of a run. */
const refused: Readonly<Record<string, readonly [spec: object, created: object]>> = {
  model: [{ model: "openai:played" }, {}],
  instructions: [{ instructions: "Be kind." }, {}],
  planning_enabled: [{ planningEnabled: true }, {}],
  hitl_tools: [{ hitlTools: ["add_todo"] }, {}],
  injected_tool_args: [{ injectedToolArgs: { why: "the reason" } }, {}],
  context_policy: [{ contextPolicy: {} }, {}],
  delegates: [{ delegates: ["other"] }, {}],
  allowed_tools: [{ allowedTools: [] }, {}],
  allowed_tool_patterns: [{ allowedToolPatterns: ["*"] }, {}],
  permission_classes: [{ permissionClasses: ["read"] }, {}],
  mcp_servers: [{ mcpServers: ["srv"] }, {}],
  fallback_models: [{ fallbackModels: ["openai:played"] }, {}],
  "spec.output_schema": [{ outputSchema: { type: "object" } }, {}],
  skills: [{ skills: ["writing"] }, {}],
  workflow: [{ workflow: { nodes: [{ id: "in", type: "input" }] } }, {}],
  "budgets.max_cost_usd": [{ budgets: { maxCostUsd: 1 } }, {}],
  output_schema: [{}, { outputSchema: { type: "object" } }],
  client_tools: [{}, { clientTools: { clientId: "c", tools: [{ name: "look" }] } }],
  files: [{}, { files: [{ artifactId: "art_00000000000000000000000000", path: "a.txt" }] }],
  messages: [{}, { messages: [{ role: Role.USER, text: "x" }] }],
};

/** The scenarios that an agent elsewhere cannot honor, each with the reason. */
const notHonored: Readonly<Record<string, string>> = {
  "approval that expires": "the caller does not learn that a request has closed",
  "question that expires": "the caller does not learn that a request has closed",
  "question that its tool withdraws": "the caller does not learn that a request has closed",
  "question of the agent that expires": "the caller does not learn that a request has closed",
  "approved with edited arguments": "a decision is approve or reject",
  "messages that wait for the next step": "messages between two steps are sent as one",
  "cancelled before its model speaks": "no task is known that could be canceled",
};

/** The scenarios of which a caller sees nothing else than of another one, which stands for them here: the backends that execute them are tested with all. */
const seenAlike: Readonly<Record<string, string>> = {
  reasoning: "text",
  tool: "text",
  "parallel tools": "text",
  progress: "text",
  "progress switched off": "text",
  compaction: "text",
  plugin: "text",
  "plugin in a subtask": "subtasks",
  delegate: "subtasks",
  "subtask with a schema": "subtasks",
  "truncated answer of a subtask": "subtasks",
  "planner that fails": "planner",
  "provider that fails at first": "answer that breaks off",
  "iteration limit": "budget stop",
  "truncated answer that is an error": "provider failure",
  "workflow that fails": "provider failure",
  workflow: "workflow that generates an image",
  "image for a model": "workflow that generates an image",
  "question of the agent that is answered": "question that is answered",
  "question of the agent that is declined": "question that is declined",
  "cancelled while its model thinks": "cancelled while its tool works",
  "cancelled while its subtask waits to ask its model again": "cancelled while its tool works",
  "cancelled while its subtask uses a tool": "cancelled while its tool works",
  "cancelled while it plans": "cancelled while its tool works",
  "cancelled while its conversation is summed up": "cancelled while its tool works",
  "cancelled while its subtask speaks": "cancelled while its tool works",
  "cancelled while its tool asks": "cancelled while the agent asks",
};

const shown = scenarios.filter(
  ({ name }) => !Object.hasOwn(notHonored, name) && !Object.hasOwn(seenAlike, name),
);
/** What each kind of message between the two deployments looks like: the bindings differ in nothing else. */
const overGrpc = [
  "text",
  "workflow that generates an image",
  "question that is answered",
  "rejected",
  "provider failure",
  "cancelled while its tool works",
];
const isActed = ({ act }: Scenario) => act !== undefined;

describe("on the backend a2a", () => {
  let backend: A2aBackend;

  beforeAll(async () => {
    backend = await a2aBackend();
  });

  afterAll(() => backend[Symbol.asyncDispose]());

  // Requirement: EVT-3, DUR-7, CAN-3
  test.each(shown)("a run ends as its recorded trace: $name", async (scenario) => {
    const { events, here, there } = await backend.run(scenario);
    const trace = traceOf(scenario);
    expect(endOf(normalized(events))).toEqual(endOf(trace));
    const task = normalized(there.events);
    expect(endOf(task)).toEqual(endOf(trace));
    // The words of people are not transferred.
    expect(isActed(scenario) ? trace : task).toEqual(trace);
    const isWhole = here.status === RunStatus.COMPLETED;
    expect(here.output).toContain(isWhole ? there.output : "");
  });

  // Requirement: EVT-3, DUR-7, CAN-3
  test.each(shown.filter(({ name }) => overGrpc.includes(name)))(
    "a run that is called over gRPC ends as its recorded trace: $name",
    async (scenario) => {
      const { events, there } = await backend.run(scenario, "GRPC");
      const trace = traceOf(scenario);
      expect(endOf(normalized(events))).toEqual(endOf(trace));
      expect(endOf(normalized(there.events))).toEqual(endOf(trace));
    },
  );

  // Requirement: RES-3, CFG-11
  test.each(Object.entries(refused))("a run is refused with %s", (field, [spec, created]) => {
    const { violations } = failureFrom(backend.refuse(spec, created));
    expect(violations.map((each) => each.field)).toContain(field.replace(/^spec\./, ""));
  });
});

test("every scenario that is left out exists, and so does the one that stands for it", () => {
  const names = new Set(scenarios.map(({ name }) => name));
  const leftOut = [...Object.keys(notHonored), ...Object.keys(seenAlike)];
  expect([...leftOut, ...overGrpc].filter((name) => !names.has(name))).toEqual([]);
  const standIns = new Set(shown.map(({ name }) => name));
  expect(Object.values(seenAlike).filter((name) => !standIns.has(name))).toEqual([]);
});

function traceOf({ name }: Scenario): Trace {
  const file = join(import.meta.dirname, "traces", `${name.replaceAll(" ", "-")}.json`);
  return JSON.parse(readFileSync(file, "utf8")) as Trace;
}

/** Returns what a caller sees of a run that works elsewhere: the requests to people, and the final status. */
function endOf(trace: Trace) {
  const lines = Object.values(trace).flat();
  const requests = lines.filter((line) => line.startsWith("approval PENDING")).length;
  const [status] = (trace["root"] ?? []).filter((line) => line.startsWith("status ")).slice(-1);
  // Why an answer is not whole is a part of it, and a task that failed has none.
  return { requests, status: status?.replace(/^(status ERROR) .*/, "$1") };
}
