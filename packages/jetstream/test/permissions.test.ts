import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { create } from "@bufbuild/protobuf";
import { connect, errors } from "@nats-io/transport-node";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { findProgram, startNatsServer } from "@reeve/platform/nats/nats-server";
import { AuditEventSchema } from "@reeve/contracts/audit";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ServiceName } from "../src/access/permissions.ts";
import { serviceNames } from "../src/access/permissions.ts";
import type { UserName } from "../src/access/server-users.ts";
import { issueCredentials, userNames, writeServerUsers } from "../src/access/server-users.ts";
import { openAuditTrail } from "../src/audit/nats.ts";
import { openCallJournal } from "../src/log/open.ts";
import { openJetStreamManager } from "../src/streams/ensure-stream.ts";
import { openTable } from "../src/table/nats.ts";
import { provisionBuckets } from "../src/streams/provision-buckets.ts";
import { provisionStreams } from "../src/streams/provision-streams.ts";
import { published, subscribed } from "./support/permissions/service-rights.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
const resources = new AsyncDisposableStack();
const users = new Map<UserName, Nats>();
let streams: readonly string[];
let url: string;
let configFile: string;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-permissions-"));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const credentials = issueCredentials();
  configFile = join(folder, "nats.conf");
  writeServerUsers(configFile, credentials);
  const options = { storeDir: join(folder, "store"), configFile, log };
  ({ url } = resources.use(await startNatsServer(options, never)));
  for (const name of userNames) {
    const options = { name, log, ...credentials[name] };
    const user = resources.use(await connectNats(url, options, never));
    recordRefusals(user);
    users.set(name, user);
  }
  const pools = { pools: ["default"], ackWaitMs: 15_000 };
  streams = [
    ...(await provisionStreams(nats("operator"), pools, never)),
    ...(await provisionBuckets(nats("operator"), never)),
  ];
});

afterAll(() => resources.disposeAsync());

function nats(user: UserName): Nats {
  const found = users.get(user);
  if (found === undefined) throw new Error(`${user} is not connected`);
  return found;
}

/** What the server has refused to each connection: an operation and its subject. */
const refused = new WeakMap<NatsConnection, Set<string>>();

function recordRefusals({ connection }: Nats): void {
  const subjects = new Set<string>();
  refused.set(connection, subjects);
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type !== "error") continue;
      if (status.error instanceof errors.PermissionViolationError) {
        subjects.add(`${status.error.operation} ${status.error.subject}`);
      }
    }
  })();
}

/** Whether the server has refused a subject. It answers in order, so it refuses before it answers what was sent later. */
async function isRefused(connection: NatsConnection, act: string): Promise<boolean> {
  await connection.flush();
  await connection.flush();
  return refused.get(connection)?.has(act) ?? false;
}

async function mayPublish({ connection }: Nats, subject: string): Promise<boolean> {
  connection.publish(subject);
  return !(await isRefused(connection, `publish ${subject}`));
}

async function maySubscribe({ connection }: Nats, subject: string): Promise<boolean> {
  const subscription = connection.subscribe(subject, { callback: () => undefined });
  const isAllowed = !(await isRefused(connection, `subscription ${subject}`));
  if (!subscription.isClosed()) subscription.unsubscribe();
  return isAllowed;
}

describe.each(serviceNames)("%s", (service) => {
  const verb = (allowed: readonly ServiceName[]) => (allowed.includes(service) ? "may" : "may not");

  test.each(published.map(([act, ...rest]) => [verb(rest[1]), act, ...rest] as const))(
    "%s %s",
    async (_, act, subject, allowed) => {
      expect([act, await mayPublish(nats(service), subject)]).toEqual([
        act,
        allowed.includes(service),
      ]);
    },
  );

  test.each(subscribed.map(([act, ...rest]) => [verb(rest[1]), act, ...rest] as const))(
    "%s receive %s",
    async (_, act, subject, allowed) => {
      expect([act, await maySubscribe(nats(service), subject)]).toEqual([
        act,
        allowed.includes(service),
      ]);
    },
  );

  test("may not delete, change, back up, or restore a stream", async () => {
    const requests = ["DELETE", "UPDATE", "SNAPSHOT", "RESTORE", "LEADER.STEPDOWN", "PEER.REMOVE"];
    const subjects = streams.flatMap((stream) =>
      requests.map((request) => `$JS.API.STREAM.${request}.${stream}`),
    );
    for (const subject of subjects) {
      expect([subject, await mayPublish(nats(service), subject)]).toEqual([subject, false]);
    }
  });
});

test("a service waits for a stream and a bucket that it may not create", async () => {
  const { connection } = nats("operator");
  const manager = await openJetStreamManager(connection);
  for (const stream of ["TOOL_JOURNAL", "KV_tools"]) await manager.streams.delete(stream);
  const opening = Promise.all([
    openCallJournal(nats("toolhost")),
    openTable(nats("toolhost"), ToolCatalogSchema),
  ]);
  await expect
    .poll(() => refused.get(nats("toolhost").connection))
    .toSatisfy(
      (acts: ReadonlySet<string>) =>
        acts.has("publish $JS.API.STREAM.CREATE.TOOL_JOURNAL") &&
        acts.has("publish $JS.API.STREAM.CREATE.KV_tools"),
    );
  await provisionStreams(nats("operator"), { pools: ["default"], ackWaitMs: 15_000 }, never);
  await provisionBuckets(nats("operator"), never);
  await opening;
});

test("a request that the server refuses fails at once, and names its subject", async () => {
  const subject = "$JS.API.STREAM.DELETE.RUNS";
  const { connection } = nats("toolhost");
  await expect(requestClientOf(connection).send(subject, {})).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining(subject) as string,
  });
});

test("the operator may do everything", async () => {
  for (const subject of ["$JS.API.STREAM.LIST", "$JS.API.STREAM.INFO.RUNS", "holder.x.probe"]) {
    expect(await mayPublish(nats("operator"), subject)).toBe(true);
  }
  expect(await maySubscribe(nats("operator"), ">")).toBe(true);
});

async function connection(options: object): Promise<NatsConnection> {
  return await connect({ servers: url, reconnect: false, timeout: 5_000, ...options });
}

test("a client without credentials, or with wrong ones, is refused", async () => {
  for (const options of [{}, { user: "gateway" }, { user: "gateway", pass: "guess" }]) {
    await expect(connection(options)).rejects.toThrow(/authorization/i);
  }
});

test.each(["users.conf", "account.conf"])("%s for deployments is a valid configuration", (file) => {
  const path = join(import.meta.dirname, "../../../deploy/nats", file);
  const passwords = userNames.map((user) => [
    `REEVE_NATS_${user.toUpperCase()}_PASSWORD`,
    "secret",
  ]);
  const env = {
    ...process.env,
    ...(Object.fromEntries(passwords) as Record<string, string>),
    REEVE_NATS_MAX_STORE: "54GB",
  };
  const args = ["-t", "--config", path];
  const { status } = spawnSync(findProgram("nats-server") ?? "", args, { env, stdio: "ignore" });
  expect(status).toBe(0);
});

test("approvals records in the audit trail, and the gateway reads it", async () => {
  const written = await openAuditTrail(nats("approvals"));
  const event = create(AuditEventSchema, { eventId: "one", tenant: "initech" });
  await written.append(event, { usesReserve: true });
  const { events } = await (await openAuditTrail(nats("gateway"))).read("initech", {}, never);
  expect(events).toMatchObject([{ event: { eventId: "one" } }]);
});

test("only the owner can read the credentials", () => {
  expect(statSync(configFile).mode & 0o777).toBe(0o600);
});
