import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect, credsAuthenticator } from "@nats-io/transport-node";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { keepsFullAccounts } from "@reeve/jetstream/streams/full-account-support";
import { recordRefusals } from "@reeve/jetstream/test/support/permissions/refusals";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exitCodes } from "../src/exit-code.ts";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const users = ["approvals", "gateway", "operator", "runtime", "system", "toolhost"];
const folder = mkdtempSync(join(tmpdir(), "reeve-accounts-"));
let first: Awaited<ReturnType<typeof reeve>>;

beforeAll(async () => {
  first = await reeve(["nats-accounts", folder]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function reeve(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const terminal = new MemoryTerminal();
  const code = await runCli([...args], { terminal, environment, signal: never });
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

const text = (...path: readonly string[]) => readFileSync(join(folder, ...path), "utf8");
const creds = (user: string) => join(folder, "creds", `${user}.creds`);

async function connected(url: string, name: string) {
  return await connectNats(url, { name, log, credsFile: creds(name) }, never);
}

test("only the owner can read keys and credentials, and the configuration has no secret", async () => {
  const secret = ["keys", "creds"].flatMap((part) =>
    readdirSync(join(folder, part)).map((file) => [part, file] as const),
  );
  expect(readdirSync(join(folder, "creds")).toSorted()).toEqual(users.map((u) => `${u}.creds`));
  const modes = secret.map((path) => statSync(join(folder, ...path)).mode & 0o777);
  expect(new Set(modes)).toEqual(new Set([0o600]));
  const seed = /S[OAU][A-Z2-7]{56}/;
  for (const path of secret) expect(text(...path)).toMatch(seed);
  for (const file of ["nats.conf", "context.json"]) expect(text(file)).not.toMatch(seed);
  expect(JSON.parse(text("context.json"))).toMatchObject({ creds: creds("operator") });
});

test("repeated, the command keeps keys and credentials", async () => {
  const before = users.map((user) => readFileSync(creds(user), "utf8"));
  const account = text("keys", "account.nk");
  await reeve(["nats-accounts", folder]);
  expect(users.map((user) => readFileSync(creds(user), "utf8"))).toEqual(before);
  expect(text("keys", "account.nk")).toBe(account);
});

test("files and folders that others can read are closed to them, and named", async () => {
  const loose = [join(folder, "creds"), creds("gateway"), join(folder, "keys", "account.nk")];
  for (const path of loose) chmodSync(path, 0o755);
  const { code, stderr } = await reeve(["nats-accounts", folder]);
  expect(code).toBe(exitCodes.ok);
  for (const path of loose) {
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(stderr).toContain(`${path} was open to others; only its owner can use it now`);
  }
  expect(stderr).not.toContain(creds("runtime"));
});

test("services and operators use JWTs, and each may only do what the contracts declare", async () => {
  expect(first.code).toBe(exitCodes.ok);
  expect(first.stdout).toContain(`${creds("gateway")}: REEVE_NATS_CREDS_FILE of gateway`);
  const options = { storeDir: join(folder, "store"), configFile: join(folder, "nats.conf"), log };
  await using server = await startNatsServer(options, never);
  const environment = {
    REEVE_NATS_URL: server.url,
    REEVE_NATS_CREDS_FILE: creds("operator"),
    REEVE_LOG_LEVEL: "silent",
  };
  const provisioned = await reeve(["provision"], environment);
  expect(provisioned).toMatchObject({ code: exitCodes.ok });
  expect(provisioned.stdout.split("\n")).toContain("RUNS");
  await using toolhost = await connected(server.url, "toolhost");
  const refusals = recordRefusals(toolhost.connection);
  for (const subject of ["run.acme.run_1.log", "tool.journal.acme.run_1.call_1"]) {
    toolhost.connection.publish(subject);
  }
  expect([...(await refusals.soFar())]).toEqual(["publish run.acme.run_1.log"]);
  await using gateway = await connected(server.url, "gateway");
  const none = recordRefusals(gateway.connection);
  gateway.connection.publish("run.acme.run_1.log");
  expect([...(await none.soFar())]).toEqual([]);
  const anyone = connect({ servers: server.url, reconnect: false });
  await expect(anyone).rejects.toThrow(/authorization/i);
});

test("--max-store-bytes limits the account, and is refused on a server that loses logs when it is full", async () => {
  const path = join(folder, "limited");
  await reeve(["nats-accounts", path, "--max-store-bytes", "1000000000"]);
  const options = { storeDir: join(path, "store"), configFile: join(path, "nats.conf"), log };
  await using server = await startNatsServer(options, never);
  const credsFile = join(path, "creds/operator.creds");
  await using operator = await connectNats(server.url, { name: "test", log, credsFile }, never);
  const manager = await jetstreamManager(operator.connection);
  expect((await manager.getAccountInfo()).limits.max_storage).toBe(1_000_000_000);
  const provisioned = await reeve(["provision"], {
    REEVE_NATS_URL: server.url,
    REEVE_NATS_CREDS_FILE: credsFile,
    REEVE_LOG_LEVEL: "silent",
  });
  const isKept = keepsFullAccounts(operator.connection.info?.version ?? "");
  expect(provisioned.code).toBe(isKept ? exitCodes.ok : exitCodes.failed);
  expect(provisioned.stderr.includes("may store 1000000000 bytes")).toBe(!isKept);
});

test("a credential is void once the key that signed it was replaced", async () => {
  rmSync(join(folder, "keys/signer-of-runtime.nk"));
  await reeve(["nats-accounts", folder]);
  const options = { storeDir: join(folder, "store"), configFile: join(folder, "nats.conf"), log };
  await using server = await startNatsServer(options, never);
  const login = { authenticator: credsAuthenticator(readFileSync(creds("runtime"))) };
  const refused = connect({ servers: server.url, reconnect: false, ...login });
  await expect(refused).rejects.toThrow(/authorization/i);
  rmSync(creds("runtime"));
  await reeve(["nats-accounts", folder]);
  await using runtime = await connected(server.url, "runtime");
  expect(runtime.connection.info?.auth_required).toBe(true);
});

test("a key that is no seed, and a file without credentials, are refused without their content", async () => {
  writeFileSync(join(folder, "keys/account.nk"), "private-content\n");
  const { code, stderr } = await reeve(["nats-accounts", folder]);
  expect(code).toBe(exitCodes.usage);
  expect(stderr).toMatch(/account\.nk has no seed of a key; restore it from your backup/);
  writeFileSync(creds("gateway"), "private-content\n");
  const environment = { REEVE_NATS_CREDS_FILE: creds("gateway"), REEVE_LOG_LEVEL: "silent" };
  const refused = await reeve(["provision"], environment);
  expect(refused.code).not.toBe(exitCodes.ok);
  expect(refused.stderr).toContain("gateway.creds has no JWT of a user of NATS");
  expect(`${stderr}${refused.stderr}`).not.toContain("private-content");
});
