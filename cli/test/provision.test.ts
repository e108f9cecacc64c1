import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { findProgram, startNatsServer } from "@reeve/platform/nats/nats-server";
import { expect, test } from "vitest";
import { exitCodes } from "../src/exit-code.ts";
import { runCli } from "../src/run-cli.ts";
import { serverLimitWarning } from "../../test/support/server-limit-warning.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { keepsReplicas } from "@reeve/jetstream/streams/replication-support";
import { NatsCluster } from "../../test/support/nats-cluster.ts";
import { natsVersion, whyNoReplicas } from "../../test/support/nats-program.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");

async function provision(environment: NodeJS.ProcessEnv) {
  const terminal = new MemoryTerminal();
  const code = await runCli(["provision"], { terminal, environment, signal: never });
  return { code, streams: terminal.stdout.trim().split("\n"), stderr: terminal.stderr };
}

/** Returns the number of replicas of each stream, and the consumers of the queues. */
async function storeAt(
  url: string,
  streams: readonly string[],
  credentials: { user?: string; pass?: string } = {},
) {
  await using nats = await connectNats(url, { name: "test", log, ...credentials }, never);
  const manager = await jetstreamManager(nats.connection);
  const replicas: Record<string, number> = {};
  for (const name of streams) {
    replicas[name] = (await manager.streams.info(name)).config.num_replicas;
  }
  const consumers: Record<string, readonly string[]> = {};
  for (const queue of ["DISPATCH", "TOOL_CALLS"]) {
    const found = await Array.fromAsync(manager.consumers.list(queue));
    consumers[queue] = found.map(({ name }) => name).toSorted();
  }
  return { replicas, consumers };
}

/** Returns how long a bucket keeps an unchanged entry, in milliseconds; 0 means forever. */
async function ageOf(url: string, bucket: string): Promise<number> {
  await using nats = await connectNats(url, { name: "test", log }, never);
  const manager = await jetstreamManager(nats.connection);
  return (await manager.streams.info(`KV_${bucket}`)).config.max_age / 1_000_000;
}

/** Returns how long the audit trail keeps an event, in milliseconds, and how many events of each tenant. */
async function auditLimitsAt(url: string): Promise<readonly number[]> {
  await using nats = await connectNats(url, { name: "test", log }, never);
  const { config } = await (await jetstreamManager(nats.connection)).streams.info("AUDIT");
  return [config.max_age / 1_000_000, config.max_msgs_per_subject];
}

// Requirement: OPS-5
test("creates all streams, buckets, and queues, and changes nothing when repeated", async () => {
  using cleanup = new DisposableStack();
  const storeDir = mkdtempSync(join(tmpdir(), "reeve-provision-"));
  cleanup.defer(() => rmSync(storeDir, { recursive: true }));
  await using server = await startNatsServer({ storeDir, log }, never);
  const environment = { REEVE_NATS_URL: server.url, REEVE_POOLS: "default,large" };
  const { code, streams, stderr } = await provision(environment);
  expect(code).toBe(exitCodes.ok);
  expect(stderr).toMatch(/^the account (\$G )?of NATS had no streams: the store is new\./m);
  expect(streams).toEqual(expect.arrayContaining(["RUNS", "KV_agents", "OBJ_artifacts-bytes"]));
  const store = await storeAt(server.url, streams);
  expect(await ageOf(server.url, "toolhosts")).toBe(10_000);
  expect(await ageOf(server.url, "tools")).toBe(0);
  const lanes = Array.from({ length: 8 }, (_, lane) => `lane-${lane}`);
  expect(store.consumers).toEqual({
    DISPATCH: [...lanes, "runtime"],
    TOOL_CALLS: ["default", "large"],
  });
  const again = await provision(environment);
  expect(again).toMatchObject({ code: exitCodes.ok, streams });
  expect(again.stderr).not.toContain("the store is new");
  expect(await storeAt(server.url, streams)).toEqual(store);
  const dayMs = 86_400_000;
  expect(await auditLimitsAt(server.url)).toEqual([400 * dayMs, 1_000_000]);
  const limits = { REEVE_AUDIT_MAX_DAYS: "30", REEVE_AUDIT_MAX_EVENTS: "5000" };
  await provision({ ...environment, ...limits });
  expect(await auditLimitsAt(server.url)).toEqual([30 * dayMs, 5_000]);
});

const reason = whyNoReplicas();

test.skipIf(reason !== "")(
  `stores every stream on three servers that require a password${reason}`,
  async () => {
    const [user, pass] = ["reeve", "a-password"];
    await using cluster = await NatsCluster.start({ credentials: { user, password: pass } });
    const environment = {
      REEVE_NATS_URL: cluster.url,
      REEVE_NATS_USER: user,
      REEVE_NATS_PASSWORD: pass,
      REEVE_LOG_LEVEL: "silent",
      REEVE_STREAM_REPLICAS: "3",
    };
    const { code, streams, stderr } = await provision(environment);
    expect(code).toBe(exitCodes.ok);
    expect(stderr).toMatch(/^pools: default\nthe account reeve of NATS had no streams: .*\n$/);
    const { replicas } = await storeAt(cluster.url, streams, { user, pass });
    expect(replicas).toEqual(Object.fromEntries(streams.map((name) => [name, 3])));
    await using nats = await cluster.connect();
    expect(await serverLimitWarning(nats, 3)).toContain("the account of NATS has no limit");
    expect(await serverLimitWarning(nats, 1)).toBe("");
  },
);

const installed = natsVersion(findProgram("nats-server"));

test.skipIf(keepsReplicas(installed))(
  `refuses replicas on servers of version ${installed}, and names the remedy`,
  async () => {
    await using cluster = await NatsCluster.start({ program: findProgram("nats-server") ?? "" });
    const environment = { REEVE_NATS_URL: cluster.url, REEVE_LOG_LEVEL: "silent" };
    const refused = await provision({ ...environment, REEVE_STREAM_REPLICAS: "3" });
    expect(refused.code).toBe(exitCodes.failed);
    expect(refused.stderr).toContain(`version ${installed}, which loses acknowledged writes`);
    expect(refused.stderr).toContain("install nats-server 2.10.7 or later");
    expect(await provision(environment)).toMatchObject({ code: exitCodes.ok });
  },
);

test("reports every invalid setting, and creates nothing", async () => {
  const { code, stderr } = await provision({ REEVE_POOLS: "a b", REEVE_STREAM_REPLICAS: "9" });
  expect(code).toBe(exitCodes.failed);
  expect(stderr).toMatch(/REEVE_POOLS: .*\n.*REEVE_STREAM_REPLICAS: /);
});
