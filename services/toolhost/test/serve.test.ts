import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { ToolCatalogSchema, ToolStatus } from "@reeve/contracts/tool";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { CallJournal } from "@reeve/log/call-journal";
import { openCallJournal } from "@reeve/log/nats-journal";
import { openToolCallQueue } from "@reeve/log/nats-queue";
import type { WorkQueue } from "@reeve/log/work-queue";
import { readConfig } from "@reeve/platform/config";
import { createLogger } from "@reeve/platform/logger";
import type { Nats } from "@reeve/platform/nats";
import { connectNats } from "@reeve/platform/nats";
import { startNatsServer } from "@reeve/platform/nats-server";
import type { ArtifactStore } from "@reeve/store/artifact-store";
import { openArtifactStore } from "@reeve/store/nats-artifact-store";
import { openTable } from "@reeve/store/nats-table";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toolhostConfig } from "../src/config.ts";
import { startToolhost } from "../src/serve.ts";
import type { RequestOptions } from "./support/toolhost.ts";
import { factsUntilEnd, keyOf, requestOf, resultOf, temporaryFolder } from "./support/toolhost.ts";

const log = createLogger("toolhost", "silent");
const signal = AbortSignal.timeout(60_000);
const resources = new AsyncDisposableStack();
let nats: Nats;
let journal: CallJournal;
let queue: WorkQueue<ToolCallRequest>;
let artifacts: ArtifactStore;

beforeAll(async () => {
  const folder = resources.use(await temporaryFolder());
  const storeDir = join(folder.path, "nats");
  const server = resources.use(await startNatsServer({ storeDir, log }, signal));
  nats = resources.use(await connectNats(server.url, { name: "test", log }, signal));
  const mcp = join(folder.path, "mcp.json");
  const progress = join(import.meta.dirname, "support/progress-server.ts");
  await writeFile(
    mcp,
    JSON.stringify({ servers: { demo: { command: process.execPath, args: [progress] } } }),
  );
  const config = readConfig(toolhostConfig, {
    REEVE_DATA_DIR: join(folder.path, "data"),
    REEVE_MCP_CONFIG: mcp,
  });
  resources.use(await startToolhost(config, { nats, log }, signal));
  journal = await openCallJournal(nats);
  queue = await openToolCallQueue(nats, { pool: "default", ackWaitMs: 1_000 });
  artifacts = await openArtifactStore(nats, { maxBytes: 1_000_000 });
});

afterAll(() => resources.disposeAsync());

async function made(options: RequestOptions) {
  const request = requestOf(options);
  const key = keyOf(request);
  await queue.publish(request, { dedupeId: key.call }, signal);
  return await factsUntilEnd(journal, key, signal);
}

describe("a toolhost", () => {
  test("announces its tools", async () => {
    const table = await openTable(nats, ToolCatalogSchema);
    const row = await table.get("default", signal);
    expect(row?.record.isolation).toBe("bubblewrap");
    expect(row?.record.tools.map(({ name }) => name)).toEqual([
      "execute_code",
      "run_command",
      "read_file",
      "write_file",
      "publish_report",
      "mcp__demo__search",
      "mcp__demo__hang",
      "mcp__demo__crash",
    ]);
  });

  test("lays files in, computes, writes and publishes", async () => {
    const bytes = new TextEncoder().encode("city,sales\nBerlin,3\n");
    const draft = { name: "data.csv", mediaType: "text/csv", runId: "" };
    const { artifactId } = await artifacts.put("acme", draft, chunks(bytes), signal);
    const files = [{ artifactId, path: "in/data.csv" }];
    const read = await made({
      callId: "run_1-3-0",
      name: "read_file",
      args: { path: "in/data.csv", limit: 1 },
      files,
    });
    expect(resultOf(read).content).toBe("city,sales\n");
    const code = "import pathlib\npathlib.Path('in/data.csv').read_text().upper()";
    const computed = resultOf(
      await made({ callId: "run_1-3-1", name: "execute_code", args: { code }, files }),
    );
    expect(JSON.parse(computed.content)).toMatchObject({
      success: true,
      result: "CITY,SALES\nBERLIN,3\n",
    });
    expect(computed.metadata).toMatchObject({
      status: ToolStatus.SUCCESS,
      endReason: "exit",
      isolation: "bubblewrap",
    });
    await made({
      callId: "run_1-3-2",
      name: "write_file",
      args: { path: "out/report.md", content: "# Grüße" },
      files,
    });
    const published = resultOf(
      await made({ callId: "run_1-3-3", name: "publish_report", args: { path: "out/report.md" } }),
    );
    const { artifact_id: id } = JSON.parse(published.content) as { artifact_id: string };
    const stored = await Array.fromAsync(artifacts.read("acme", id, signal));
    expect(Buffer.concat(stored).toString()).toBe("# Grüße");
  });

  test("journals the start, the progress of an MCP server, and the result", async () => {
    const facts = await made({
      callId: "run_1-4-0",
      name: "mcp__demo__search",
      args: { q: "x" },
    });
    expect(facts.map(({ fact }) => fact.case)).toEqual([
      "started",
      "progress",
      "progress",
      "result",
    ]);
    expect(facts[1]?.fact.value).toMatchObject({ progress: 1, total: 2, message: "step 1" });
    expect(resultOf(facts)).toMatchObject({ content: 'found: "x"', isError: false });
  });

  test.each([
    ["an unknown tool", { name: "nothing", args: {} }, /no tool nothing/],
    ["a missing argument", { name: "read_file", args: {} }, /'path'/],
    ["an unknown argument", { name: "read_file", args: { path: "a", mode: 1 } }, /argument mode/],
    ["a missing file", { name: "read_file", args: { path: "nothing.txt" } }, /does not exist/],
    ["a command", { name: "run_command", args: { command: ["sudo", "RM", "x"] } }, /rm is not/],
  ])("tells the model about %s", async (what, options, problem) => {
    const callId = `run_1-5-${what.replaceAll(" ", "_")}`;
    const result = resultOf(await made({ ...options, callId }));
    expect(result.isError).toBe(true);
    expect(result.content).toMatch(problem);
    expect(result.metadata?.status).toBe(ToolStatus.ERROR);
  });
});

async function* chunks(...bytes: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* bytes;
}
