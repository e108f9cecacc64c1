import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { DecideApprovalRequestSchema } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import type { ToolResult } from "@reeve/contracts/tool";
import { EventFamily } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";
import {
  everythingProgram,
  filesystemProgram,
  startEverythingServer,
} from "./support/everything-server.ts";
import { installedServer } from "./support/installed-server.ts";
import { canonicalFamilies, traceOf } from "./support/traces.ts";
import { eventOf } from "./support/watching.ts";

const askingServer = join(
  import.meta.dirname,
  "../../services/toolhost/test/support/asking-server.ts",
);

/** Servers from the public registry, one over stdio, one over HTTP. */
const resources = new AsyncDisposableStack();
let deployment: Deployment;
let folder: string;
/** The folder that the server of the recipe in docs/tools.md serves. */
let shared: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "reeve-mcp-test-"));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  const remote = resources.use(await startEverythingServer());
  const installed = resources.use(installedServer("installed"));
  shared = installed.shared;
  const program = { command: process.execPath, sandbox: false };
  const servers = {
    files: { ...program, args: [filesystemProgram, folder] },
    asking: { ...program, args: [askingServer], elicitation: true },
    local: { ...program, args: [everythingProgram], elicitation: true },
    remote: { url: remote.url, allow_addresses: ["127.0.0.1"] },
    ...installed.servers,
  };
  deployment = resources.use(
    await Deployment.start({}, { REEVE_MCP_CONFIG: JSON.stringify({ servers }) }),
  );
});

afterAll(() => resources.disposeAsync());

describe("a server from the public registry", () => {
  // Requirement: MCP-1
  test("gives an agent access to the files that it serves, and to no others", async () => {
    await deployment.agent("mcp-files", { mcpServers: ["files"] });
    const results = (await watched("mcp-files", folder)).flatMap(({ event }) =>
      event.case === "toolResult" ? [event.value] : [],
    );
    expect(results.map(({ success }) => success)).toEqual([true, true, false]);
    expect(results[1]?.result?.content).toBe("kept by a real server");
    expect(results[2]?.result?.content).toContain("outside allowed directories");
    expect(await readFile(join(folder, "note.txt"), "utf8")).toBe("kept by a real server");
  });

  test("works in a sandbox without a network, installed in advance as docs/tools.md says", async () => {
    const { tools } = deployment.reeve;
    await expect
      .poll(async () => (await tools.listTools({})).tools.map(({ name }) => name))
      .toContain("mcp__installed__read_text_file");
    await deployment.agent("mcp-installed", { mcpServers: ["installed"] });
    const results = (await watched("mcp-installed", shared)).flatMap(({ event }) =>
      event.case === "toolResult" && event.value.result ? [event.value.result] : [],
    );
    expect(results.map(({ content }) => content)).toEqual(["shared with a sandbox"]);
  });

  test("returns a picture as an artifact, links, and structured content", async () => {
    await deployment.agent("mcp-contents", { mcpServers: ["remote"] });
    const results = (await watched("mcp-contents", "go")).flatMap(({ event }) =>
      event.case === "toolResult" && event.value.result ? [event.value.result] : [],
    );
    expect(results[0]?.content).toMatch(/\[image 1: image\/png, \d+ bytes\]/);
    expect(results[0]?.metadata?.offloadedArtifactId).toMatch(/^art_/);
    expect(results[1]?.content).toMatch(/\[.+: demo:\/\/resource\/.+\]/);
    expect(results[2]?.structured).toMatchObject({ conditions: expect.any(String) });
  });

  // Requirement: MCP-2
  test.each([
    ["its standard output", "local"],
    ["streamable HTTP", "remote"],
  ])("reports its progress over %s, in the canonical order", async (_, server) => {
    await deployment.agent(`mcp-${server}`, { mcpServers: [server] });
    const tool = `mcp__${server}__trigger-long-running-operation`;
    expect(traceOf(await watched(`mcp-${server}`, "go"))).toEqual([
      "status starting",
      "step 1 started",
      "usage 1",
      `tool_call ${tool}`,
      "mcp_progress 1/2 ",
      "mcp_progress 2/2 ",
      `tool_result ${tool} true`,
      "step 1 completed",
      "step 2 started",
      'text "Final answer"',
      "usage 2",
      "step 2 completed",
      "status completed",
    ]);
  });
});

describe("a server with a question for a person", () => {
  // Requirement: HOST-6
  test.each<[string, JsonObject, RegExp]>([
    ["asks-legacy", { name: "Ada", integer: 7 }, /- Name: Ada[^]*- Favorite Integer: 7/],
    ["asks-modern", { dish: "soup" }, /^order 1: soup$/],
  ])("receives the answer during its call (%s)", async (script, answer, said) => {
    const { events } = await asked(script, { approved: true, answer });
    expect(traceOf(events).slice(3, 7)).toEqual([
      expect.stringContaining("tool_call"),
      "approval",
      "approval",
      expect.stringMatching(/tool_result .* true/),
    ]);
    expect(resultOf(events)?.content).toMatch(said);
  });

  test.each([
    ["asks-legacy", /declined/],
    ["asks-modern", /^order 1: decline$/],
  ])("learns that the question was not answered (%s)", async (script, said) => {
    const { events } = await asked(script, { approved: false, reason: "no" });
    expect(resultOf(events)?.content).toMatch(said);
  });

  test("never receives an answer that violates the schema of its question", async () => {
    const { approval, events } = await asked("asks-modern", { approved: false }, async (id) => {
      const wrong = { approvalId: id, approved: true, answer: { dish: "stone" } };
      const decided = deployment.reeve.approvals.decideApproval(wrong);
      await expect(decided).rejects.toThrow(
        /answer to question .* does not match its schema: answer.dish/,
      );
    });
    expect(approval?.question).toMatchObject({
      message: "What is it to be?",
      askedBy: "mcp:asking",
      schema: { required: ["dish"] },
    });
    expect(resultOf(events)?.content).toBe("order 1: decline");
  });
});

test("a question is answered although the worker that received it is gone", async () => {
  const { events } = await asked("asks-modern", { approved: true, answer: { dish: "salad" } }, () =>
    deployment.kill("runtime").then(() => deployment.start("runtime")),
  );
  expect(traceOf(events).filter((line) => line === "approval")).toHaveLength(2);
  expect(resultOf(events)?.content).toBe("order 1: salad");
});

/** Starts a run whose tool asks a question, and answers it after `before`. */
async function asked(
  script: string,
  decision: MessageInitShape<typeof DecideApprovalRequestSchema>,
  before: (approvalId: string) => Promise<void> = async () => undefined,
) {
  const { runs, approvals, agents } = deployment.reeve;
  const agentId = `mcp-${script}`;
  const { agents: known } = await agents.listAgents({});
  if (!known.some(({ spec }) => spec?.id === agentId)) {
    await deployment.agent(agentId, { mcpServers: ["local", "asking"] });
  }
  const { run } = await runs.startRun({ agentId, input: "go" });
  const runId = run?.runId ?? "";
  const { event } = await eventOf(deployment, runId, "approval");
  const approval = event.case === "approval" ? event.value.approval : undefined;
  const approvalId = approval?.approvalId ?? "";
  await before(approvalId);
  await approvals.decideApproval({ ...decision, approvalId });
  return { approval, events: await seen(runId) };
}

function resultOf(events: readonly RunEvent[]): ToolResult | undefined {
  return events.flatMap(({ event }) =>
    event.case === "toolResult" ? [event.value.result] : [],
  )[0];
}

/** Returns the events that a client sees in a run of an agent, to its end. */
async function watched(agentId: string, input: string): Promise<readonly RunEvent[]> {
  const { runs } = deployment.reeve;
  const { run } = await runs.startRun({ agentId, input });
  return await seen(run?.runId ?? "");
}

async function seen(runId: string): Promise<readonly RunEvent[]> {
  const { runs } = deployment.reeve;
  const events: RunEvent[] = [];
  const families = [...canonicalFamilies, EventFamily.APPROVAL];
  for await (const { events: more } of runs.watchRun({
    runId,
    selection: { case: "families", value: { families } },
  })) {
    events.push(...more);
  }
  return events;
}
