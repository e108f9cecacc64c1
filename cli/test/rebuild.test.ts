import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { AgentSchema } from "@reeve/contracts/agent";
import { bucketOf } from "@reeve/contracts/channel";
import { RunEventSchema, RunSchema } from "@reeve/contracts/run";
import { openRunLog } from "@reeve/jetstream/log/open";
import { emptyTail } from "@reeve/jetstream/log/port";
import { issueCredentials, writeServerUsers } from "@reeve/jetstream/access/server-users";
import { provisionBuckets } from "@reeve/jetstream/streams/provision-buckets";
import { provisionStreams } from "@reeve/jetstream/streams/provision-streams";
import { openTable } from "@reeve/jetstream/table/nats";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { gatewayConfig } from "@reeve/gateway/config";
import { startGateway } from "@reeve/gateway/serve";
import { expect, test } from "vitest";
import { exitCodes } from "../src/exit-code.ts";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");

/** Returns a folder that is removed with `cleanup`: after the servers that write to it have ended. */
function folderUntil(cleanup: DisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), "reeve-rebuild-"));
  cleanup.defer(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function rebuild(url: string, ...args: readonly string[]) {
  return await rebuildAs({}, url, ...args);
}

async function rebuildAs(
  settings: Readonly<Record<string, string>>,
  url: string,
  ...args: readonly string[]
) {
  const terminal = new MemoryTerminal();
  const environment = { REEVE_NATS_URL: url, REEVE_LOG_LEVEL: "silent", ...settings };
  const code = await runCli(["rebuild", ...args], { terminal, environment, signal: never });
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

/** Writes the logs of two runs. */
async function writeRuns(nats: Nats): Promise<void> {
  const runLog = await openRunLog(nats);
  const event = { case: "runCreated", value: { tenant: "acme" } } as const;
  for (const run of ["run_aaaaaaaa", "run_bbbbbbbb"]) {
    const created = create(RunEventSchema, { runId: run, sequence: 1, event });
    await runLog.append({ tenant: "acme", run }, emptyTail, [created], never);
  }
}

test("repairs the list of runs while the gateway runs, and prints how many logs it compared", async () => {
  using cleanup = new DisposableStack();
  const storeDir = folderUntil(cleanup);
  await using server = await startNatsServer({ storeDir, log }, never);
  await using nats = await connectNats(server.url, { name: "test", log }, never);
  await writeRuns(nats);
  const config = gatewayConfig.parse({ REEVE_LISTEN: "127.0.0.1:0" });
  await using _ = await startGateway(config, { nats, log }, never);
  const { code, stdout, stderr } = await rebuild(server.url, "runs");
  expect({ code, stdout, stderr }).toMatchObject({
    code: exitCodes.ok,
    stdout: expect.stringMatching(/^runs: 2 logs compared, \d repaired\n$/) as string,
  });
  const json = await rebuild(server.url, "threads", "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({ name: "threads", fulfilledRequests: "1" });
});

test("connects as the user of its settings, whose permissions suffice", async () => {
  using cleanup = new DisposableStack();
  const folder = folderUntil(cleanup);
  const configFile = join(folder, "nats.conf");
  const credentials = issueCredentials();
  writeServerUsers(configFile, credentials);
  const options = { storeDir: join(folder, "store"), configFile, log };
  await using server = await startNatsServer(options, never);
  const { operator, gateway } = credentials;
  await using nats = await connectNats(server.url, { name: "operator", log, ...operator }, never);
  await writeRuns(nats);
  await provisionStreams(nats, { pools: ["default"], ackWaitMs: 15_000 }, never);
  await provisionBuckets(nats, never);
  const user = { name: "gateway", log, ...gateway };
  await using gatewayNats = await connectNats(server.url, user, never);
  const config = gatewayConfig.parse({ REEVE_LISTEN: "127.0.0.1:0" });
  await using _ = await startGateway(config, { nats: gatewayNats, log }, never);
  const settings = { REEVE_NATS_USER: gateway.user, REEVE_NATS_PASSWORD: gateway.pass };
  const { code, stdout } = await rebuildAs(settings, server.url, "runs");
  expect({ code, stdout }).toMatchObject({
    code: exitCodes.ok,
    stdout: expect.stringMatching(/^runs: 2 logs compared/) as string,
  });
});

test("restores the list of a backup that lacks it, while everything else is in the backup", async () => {
  using cleanup = new DisposableStack();
  const folder = folderUntil(cleanup);
  const backup = join(folder, "backup");
  const agentKey = bucketOf(AgentSchema).key({ tenant: "acme", agent: "writer" });
  const runKey = bucketOf(RunSchema).key({ tenant: "acme", run: "run_bbbbbbbb" });
  {
    const storeDir = join(folder, "store");
    await using server = await startNatsServer({ storeDir, log }, never);
    await using nats = await connectNats(server.url, { name: "test", log }, never);
    await writeRuns(nats);
    const agents = await openTable(nats, AgentSchema);
    await agents.put(agentKey, create(AgentSchema, { spec: { id: "writer" } }), never);
    await openTable(nats, RunSchema);
  }
  cpSync(join(folder, "store"), backup, { recursive: true });
  rmSync(join(backup, "jetstream/$G/streams", `KV_${bucketOf(RunSchema).name}`), {
    recursive: true,
  });

  await using server = await startNatsServer({ storeDir: backup, log }, never);
  await using nats = await connectNats(server.url, { name: "test", log }, never);
  const config = gatewayConfig.parse({ REEVE_LISTEN: "127.0.0.1:0" });
  await using _ = await startGateway(config, { nats, log }, never);
  const { code, stdout } = await rebuild(server.url, "runs");
  expect({ code, stdout }).toMatchObject({
    code: exitCodes.ok,
    stdout: expect.stringMatching(/^runs: 2 logs compared/) as string,
  });
  expect(await (await openTable(nats, RunSchema)).get(runKey, never)).toMatchObject({
    record: { runId: "run_bbbbbbbb" },
  });
  expect(await (await openTable(nats, AgentSchema)).get(agentKey, never)).toMatchObject({
    record: { spec: { id: "writer" } },
  });
});

test("refuses a projection that does not exist", async () => {
  const { code, stderr } = await rebuild("nats://127.0.0.1:1", "agents");
  expect(code).toBe(exitCodes.usage);
  expect(stderr).toContain("runs, threads, approvals");
});
