import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { EventFamily, OwnerFate, RunStatus } from "@reeve/contracts/run";
import type { RunEvent } from "@reeve/contracts/run";
import { programFile } from "@reeve/platform/test/support/program-file";
import { describe, expect, test } from "vitest";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { SingleProcess } from "./support/single-process.ts";
import { expectGapless, firstCall, started, watchToEnd } from "./support/watching.ts";

/** The longest lease that the settings allow: work that continues within the test was released. */
const settings = { REEVE_ACK_WAIT_MS: "600000" };

/** Starts a model whose first answer never ends. Resolves `isAsked` when it is asked for that answer. */
async function startModel() {
  const { promise: isAsked, resolve } = Promise.withResolvers<void>();
  const model = await startPlayingServer(() => {
    if (model.asked.length > 1) return { text: "done" };
    resolve();
    return { hangs: true };
  });
  const environment = { OPENAI_API_KEY: "none", OPENAI_BASE_URL: model.url };
  return Object.assign(model, { isAsked, settings: { ...settings, ...environment } });
}

/** Returns the claims of a run that completed, without a gap in its log. */
function claimsOf(events: readonly RunEvent[]) {
  expectGapless(events);
  expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
  return events.flatMap(({ event }) => (event.case === "runClaimed" ? [event.value] : []));
}

// Requirement: DUR-3
describe(
  "work of a process that is killed continues before its lease ends",
  { timeout: 300_000 },
  () => {
    test("at the other worker", async () => {
      await using model = await startModel();
      await using deployment = await Deployment.start(model.settings);
      await deployment.agent("answer", { model: "openai:any" });
      const { run } = await deployment.reeve.runs.startRun({ agentId: "answer", input: "go" });
      const runId = run?.runId ?? "";
      await model.isAsked;
      await deployment.start("runtime-2");
      await deployment.kill("runtime");
      const claims = claimsOf(await watchToEnd(deployment, runId));
      expect(claims).toHaveLength(2);
      expect(claims[1]).toMatchObject({ previousOwner: OwnerFate.CRASHED, attempt: 2 });
    });

    test("at the same deployment in one process, once it has started again", async () => {
      await using model = await startModel();
      await using single = await SingleProcess.start(model.settings);
      await single.agent("answer", "openai:any");
      const { run } = await single.reeve.runs.startRun({ agentId: "answer", input: "go" });
      const runId = run?.runId ?? "";
      await model.isAsked;
      await single.kill();
      await single.restart();
      const claims = claimsOf(await watchToEnd(single, runId));
      expect(claims).toHaveLength(2);
      expect(claims[1]).toMatchObject({ previousOwner: OwnerFate.CRASHED, attempt: 2 });
    });

    test("at the same deployment in one process, for a call that is idempotent", async () => {
      await using resources = new AsyncDisposableStack();
      const folder = mkdtempSync(join(tmpdir(), "reeve-takeover-"));
      resources.defer(() => rmSync(folder, { recursive: true, force: true }));
      const tools = { command: process.execPath, args: [programFile("progress-server")] };
      const mcpConfig = join(folder, "mcp.json");
      writeFileSync(mcpConfig, JSON.stringify({ servers: { srv: { ...tools, sandbox: false } } }));
      await using single = await SingleProcess.start({
        ...settings,
        REEVE_SCRIPTS: join(import.meta.dirname, "support/scripts"),
        REEVE_MCP_CONFIG: mcpConfig,
      });
      // The process is up before its MCP servers have answered.
      const offered = async () => (await single.reeve.tools.listTools({})).tools;
      const isOffered = async () =>
        (await offered()).some(({ name }) => name === "mcp__srv__await_file");
      await expect.poll(isOffered).toBe(true);
      await single.agent("await-file", "scripted:await-file", ["mcp__srv__await_file"]);
      const input = join(folder, "go");
      const { run } = await single.reeve.runs.startRun({ agentId: "await-file", input });
      const runId = run?.runId ?? "";
      const families = [EventFamily.MCP_PROGRESS];
      const selection = { case: "families", value: { families } } as const;
      for await (const { events } of single.reeve.runs.watchRun({ runId, selection })) {
        if (events.some(({ event }) => event.case === "mcpProgress")) break;
      }
      await single.kill();
      writeFileSync(input, "");
      await single.restart();
      const events = await watchToEnd(single, runId);
      expect(claimsOf(events)).toHaveLength(2);
      const results = events.flatMap(({ event }) =>
        event.case === "toolResult" ? event.value : [],
      );
      expect(results).toMatchObject([{ success: true }]);
    });

    test("at the other toolhost, for a call that is idempotent", async () => {
      await using resources = new AsyncDisposableStack();
      const folder = mkdtempSync(join(tmpdir(), "reeve-takeover-"));
      resources.defer(() => rmSync(folder, { recursive: true, force: true }));
      await using deployment = await Deployment.start(settings);
      const allowedTools = fromJson(ListValueSchema, ["mcp__srv__await_file"]);
      await deployment.agent("await-file", { mcpServers: ["srv"], allowedTools });
      const input = join(folder, "go");
      const { run } = await deployment.reeve.runs.startRun({ agentId: "await-file", input });
      const runId = run?.runId ?? "";
      await started(deployment, runId, await firstCall(deployment, runId));
      await deployment.start("toolhost-2");
      await deployment.kill("toolhost");
      writeFileSync(input, "");
      const events = await watchToEnd(deployment, runId);
      expect(claimsOf(events)).toHaveLength(1);
      const results = events.flatMap(({ event }) =>
        event.case === "toolResult" ? event.value : [],
      );
      expect(results).toMatchObject([{ success: true }]);
    });
  },
);
