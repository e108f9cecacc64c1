import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { openCallJournal } from "@reeve/jetstream/log/open";
import { openTable } from "@reeve/jetstream/table/nats";
import { readConfig } from "@reeve/platform/config";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";
import { expect, test } from "vitest";
import { toolhostConfig } from "../src/config.ts";
import { startToolhost } from "../src/serve.ts";
import { openCallRequests } from "./support/call-requests.ts";
import { factsUntilEnd, keyOf, requestOf, resultOf } from "./support/toolhost.ts";

test("a toolhost offers its tools before a slow source has answered, and says which source failed", async () => {
  const { signal } = new AbortController();
  const log = createLogger("test", "silent");
  await using folder = await temporaryFolder();
  await using server = await startNatsServer({ storeDir: join(folder.path, "nats"), log }, signal);
  await using nats = await connectNats(server.url, { name: "test", log }, signal);
  const mcp = join(folder.path, "mcp.json");
  const slow = { command: "sleep", args: ["1000"], sandbox: false };
  const broken = { command: "/no/such/program", sandbox: false };
  await writeFile(mcp, JSON.stringify({ servers: { slow, broken } }));
  const config = readConfig(toolhostConfig, {
    REEVE_DATA_DIR: join(folder.path, "data"),
    REEVE_MCP_CONFIG: mcp,
    REEVE_SANDBOX: "bubblewrap",
  });
  await using host = await startToolhost(config, { nats, log, environment: {} }, signal);
  const [row] = await (await openTable(nats, ToolCatalogSchema)).list("default", signal);
  expect(row?.record.tools.map(({ name }) => name)).toContain("execute_code");
  expect(await Promise.race(host.sources)).toMatchObject({
    kind: "MCP server",
    name: "broken",
    tools: 0,
    problem: expect.stringContaining("/no/such/program") as string,
  });
});

test("a call whose MCP server did not start yet waits for it", async () => {
  const { signal } = new AbortController();
  const log = createLogger("test", "silent");
  await using folder = await temporaryFolder();
  await using server = await startNatsServer({ storeDir: join(folder.path, "nats"), log }, signal);
  await using nats = await connectNats(server.url, { name: "test", log }, signal);
  const mcp = join(folder.path, "mcp.json");
  const repaired = join(folder.path, "repaired");
  const program = join(import.meta.dirname, "support/progress-server.ts");
  const script = `test -e ${repaired} && exec ${process.execPath} ${program}`;
  const late = { command: "sh", args: ["-c", script], sandbox: false };
  await writeFile(mcp, JSON.stringify({ servers: { late } }));
  const config = readConfig(toolhostConfig, {
    REEVE_DATA_DIR: join(folder.path, "data"),
    REEVE_MCP_CONFIG: mcp,
    REEVE_SANDBOX: "bubblewrap",
  });
  await using host = await startToolhost(config, { nats, log, environment: {} }, signal);
  await host.offersAll;
  const requests = await openCallRequests(nats);
  const journal = await openCallJournal(nats);
  const [first, second] = ["run_1-2-0", "run_1-2-1"].map((callId) =>
    requestOf({ name: "mcp__late__search", args: { q: "tea" }, callId }),
  );
  if (first === undefined || second === undefined) throw new Error("there are two requests");
  await requests.publish(first, signal);
  await writeFile(repaired, "");
  await requests.publish(second, signal);
  for (const request of [first, second]) {
    const facts = await factsUntilEnd(journal, keyOf(request), signal);
    expect(resultOf(facts)).toMatchObject({ isError: false });
  }
});
