import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Role } from "@reeve/contracts/thread";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { parseScript } from "@reeve/models/scripted/script";
import { scriptedProvider } from "@reeve/models/scripted/scripted-provider";
import type { RunAgentOptions } from "./run-agent.ts";
import { runAgent } from "./run-agent.ts";

const never = new AbortController().signal;
const script = parseScript("turns: [{ text: Hello there. }]", "hello.yaml");
const agent = { id: "a", name: "a", model: "scripted:hello" };
const most = 262_144;

/** Returns the Failure that refuses a run. */
function refusal(
  spec: MessageInitShape<typeof AgentSpecSchema>,
  input = "go",
  options: Partial<RunAgentOptions> = {},
): Failure {
  try {
    const providers = [scriptedProvider([script])];
    runAgent({ ...agent, ...spec }, input, { providers, signal: never, ...options });
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error("the run was accepted");
}

/** Returns an object as callers without types pass it. */
const untyped = (value: object): object => value;

test.each<[string, string, RunAgentOptions["created"], readonly string[]]>([
  ["an empty input", "", {}, ["input STRING_MIN_LEN"]],
  ["an input that is too large", "x".repeat(most + 1), {}, ["input STRING_MAX_BYTES"]],
  [
    "messages that are too large together",
    "go",
    { messages: [{ role: Role.USER, text: "x".repeat(most - 1) }] },
    ["messages TOO_LARGE"],
  ],
  [
    "a message without a role",
    "go",
    { messages: [{ text: "x" }] },
    ["messages[0].role ENUM_NOT_IN"],
  ],
  [
    "too many messages and labels",
    "go",
    {
      messages: Array.from({ length: 1_001 }, () => ({ role: Role.USER, text: "x" })),
      labels: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`l${n}`, ""])),
    },
    ["messages REPEATED_MAX_ITEMS", "labels MAP_MAX_PAIRS"],
  ],
  [
    "a label that is too long",
    "go",
    { labels: { a: "x".repeat(1_025) } },
    [`labels["a"] STRING_MAX_BYTES`],
  ],
])("%s is refused", (_, input, created, expected) => {
  const { kind, reason, violations } = refusal({}, input, { ...(created && { created }) });
  expect({ kind, reason }).toEqual({ kind: "invalid", reason: ErrorReason.INVALID_REQUEST });
  expect(violations.map((each) => `${each.field} ${each.reason}`)).toEqual(expected);
});

test("unknown fields and values of the wrong type are refused together, with everything else", () => {
  const spec = untyped({
    name: "",
    hitlTool: ["add_todo"],
    maxRounds: "many",
    mcpServers: [7],
    budgets: { maxTokens: 5 },
    approvalPolicy: { timeout: "30s" },
    deepAgent: [],
    injectedToolArgs: "none",
    excludedTools: undefined,
  });
  const { reason, violations } = refusal(spec);
  expect(reason).toBe(ErrorReason.INVALID_AGENT);
  expect(violations.map((each) => `${each.field} ${each.reason}`)).toEqual([
    "hitlTool UNKNOWN_FIELD",
    "max_rounds MISTYPED",
    "mcp_servers[0] MISTYPED",
    "budgets.maxTokens UNKNOWN_FIELD",
    "approval_policy.timeout MISTYPED",
    "deep_agent MISTYPED",
    "injected_tool_args MISTYPED",
    "name STRING_MIN_LEN",
  ]);
  expect(violations[0]?.description).toBe("unknown field; did you mean hitlTools?");
});

test("unknown fields of a request are refused", () => {
  const created = untyped({ label: {}, messages: [{ role: Role.USER, content: "x" }] });
  const { reason, violations } = refusal({}, "go", { created });
  expect(reason).toBe(ErrorReason.INVALID_REQUEST);
  expect(violations.map(({ field }) => field)).toEqual(["label", "messages[0].content"]);
});

test("an agent that only lacks a backend is refused as unsupported", () => {
  expect(refusal({ endpoint: { url: "https://x.example", protocol: "a2a" } })).toMatchObject({
    kind: "unsupported",
    reason: ErrorReason.UNSUPPORTED_REMOTE_BACKEND,
  });
});

test("a message that is too large is refused", async () => {
  const providers = [scriptedProvider([script])];
  const run = runAgent(agent, "go", { providers, signal: never });
  await expect(run.send("x".repeat(most + 1))).rejects.toMatchObject({
    reason: ErrorReason.INVALID_REQUEST,
    violations: [{ field: "text" }],
  });
  await run.ended;
});
