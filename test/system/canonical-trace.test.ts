import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { RunEvent } from "@reeve/contracts/run";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import type { Connection } from "@reeve/client";
import { openConnection } from "@reeve/client";
import { startEmbedded } from "@reeve/cli/embedded";
import { Deployment } from "./support/deployment.ts";
import { canonicalFamilies, canonicalTrace, traceOf } from "./support/traces.ts";

async function canonicalRun({ runs }: Connection): Promise<readonly RunEvent[]> {
  const { run } = await runs.startRun({ agentId: "search", input: "find it" });
  const events: RunEvent[] = [];
  for await (const { events: more } of runs.watchRun({
    runId: run?.runId ?? "",
    selection: { case: "families", value: { families: [...canonicalFamilies] } },
  })) {
    events.push(...more);
  }
  return events;
}

// Requirement: EVT-2, EVT-3
test("one process produces the canonical trace", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-test-"));
  const mcp = join(import.meta.dirname, "../../services/toolhost/test/support/progress-server.ts");
  const servers = { srv: { command: process.execPath, args: [mcp], sandbox: false } };
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ servers }));
  try {
    await using embedded = await startEmbedded(
      {
        listen: "127.0.0.1:0",
        dataDir: join(folder, "data"),
        settings: {
          REEVE_SCRIPTS: join(import.meta.dirname, "support/scripts"),
          REEVE_MCP_CONFIG: join(folder, "mcp.json"),
          REEVE_SANDBOX: "bubblewrap",
        },
        log: createLogger("test", "silent"),
      },
      new AbortController().signal,
    );
    await embedded.offersAll;
    using reeve = openConnection({ address: embedded.url, token: embedded.token });
    await reeve.agents.createAgent({
      spec: create(AgentSpecSchema, {
        id: "search",
        name: "search",
        model: "scripted:search",
        mcpServers: ["srv"],
      }),
    });
    expect(traceOf(await canonicalRun(reeve))).toEqual(canonicalTrace);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

// Requirement: EVT-2, EVT-3
test("four processes produce the same trace", async () => {
  await using deployment = await Deployment.start();
  await deployment.agent("search", { mcpServers: ["srv"] });
  expect(traceOf(await canonicalRun(deployment.reeve))).toEqual(canonicalTrace);
});

// Requirement: CFG-6, MCP-3
test("an agent without progress events has the same calls and results", async () => {
  await using deployment = await Deployment.start();
  await deployment.agent("search", { mcpServers: ["srv"], emitMcpProgress: false });
  const expected = canonicalTrace.filter((line) => !line.startsWith("mcp_progress"));
  expect(traceOf(await canonicalRun(deployment.reeve))).toEqual(expected);
});
