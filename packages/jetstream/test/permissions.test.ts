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

const all = serviceNames;

/** What a service may do that others may not: the act, its subject, and the services that may. */
const published: readonly (readonly [string, string, readonly ServiceName[]])[] = [
  [
    "append a decision to the log of a run",
    "run.acme.run_1.log",
    ["gateway", "runtime", "approvals"],
  ],
  [
    "read the log of a run",
    "$JS.API.DIRECT.GET.RUNS.run.acme.run_1.log",
    ["gateway", "runtime", "approvals"],
  ],
  [
    "read the log of a run by sequence",
    "$JS.API.DIRECT.GET.RUNS",
    ["gateway", "runtime", "approvals"],
  ],
  [
    "read the log of a run from the leader",
    "$JS.API.STREAM.MSG.GET.RUNS",
    ["gateway", "runtime", "approvals"],
  ],
  [
    "consume the logs of runs",
    "$JS.API.CONSUMER.CREATE.RUNS.spy.run.>",
    ["gateway", "runtime", "approvals"],
  ],
  ["remove the log of a run", "$JS.API.STREAM.PURGE.RUNS", ["gateway"]],
  ["remove a batch of a run", "$JS.API.STREAM.MSG.DELETE.RUNS", ["gateway"]],
  ["append to the log of a thread", "thread.acme.thread_1.log", ["gateway", "runtime"]],
  [
    "read the log of a thread",
    "$JS.API.DIRECT.GET.THREADS.thread.acme.thread_1.log",
    ["gateway", "runtime"],
  ],
  ["dispatch a run", "dispatch.run", ["gateway", "runtime", "approvals"]],
  ["dispatch a run in a lane", "dispatch.lane.7.acme", ["gateway", "runtime", "approvals"]],
  ["take a run from a lane", "$JS.API.CONSUMER.MSG.NEXT.DISPATCH.lane-7", ["runtime"]],
  ["settle a run of a lane", "$JS.ACK.DISPATCH.lane-7.1.1.1.1.0", ["runtime", "toolhost"]],
  ["take a run from the queue", "$JS.API.CONSUMER.MSG.NEXT.DISPATCH.runtime", ["runtime"]],
  ["stop the dispatch of runs", "$JS.API.CONSUMER.DELETE.DISPATCH.runtime", ["runtime"]],
  ["request a tool call", "tool.call.default", ["runtime"]],
  ["forward a tool call", "tool.call.default.host.toolhost-1", ["toolhost"]],
  ["take a tool call from the queue", "$JS.API.CONSUMER.MSG.NEXT.TOOL_CALLS.default", ["toolhost"]],
  ["queue a notification", "notify.on-call", ["approvals"]],
  ["take a notification", "$JS.API.CONSUMER.MSG.NEXT.NOTIFICATIONS.on-call", ["approvals"]],
  ["settle a notification", "$JS.ACK.NOTIFICATIONS.on-call.1.1.1.1.0", ["approvals"]],
  ["read notifications", "$JS.API.STREAM.MSG.GET.NOTIFICATIONS", ["approvals"]],
  ["store a dead letter", "$KV.dead_notifications.acme.msg_1", ["approvals"]],
  ["read dead letters", "$JS.API.STREAM.MSG.GET.KV_dead_notifications", ["approvals"]],
  ["record a tool result", "tool.journal.acme.run_1.call_1", ["gateway", "runtime", "toolhost"]],
  [
    "read a tool result",
    "$JS.API.DIRECT.GET.TOOL_JOURNAL.tool.journal.acme.run_1.call_1",
    ["gateway", "runtime", "toolhost"],
  ],
  ["remove tool results", "$JS.API.STREAM.PURGE.TOOL_JOURNAL", ["gateway"]],
  ["record an event in the audit trail", "audit.acme", ["gateway", "approvals"]],
  ["read the audit trail", "$JS.API.DIRECT.GET.AUDIT.audit.acme", ["gateway"]],
  ["read the audit trail by sequence", "$JS.API.DIRECT.GET.AUDIT", ["gateway"]],
  ["read the audit trail from the leader", "$JS.API.STREAM.MSG.GET.AUDIT", ["gateway"]],
  ["consume the audit trail", "$JS.API.CONSUMER.CREATE.AUDIT.spy.audit.>", ["gateway"]],
  ["remove the audit trail", "$JS.API.STREAM.PURGE.AUDIT", []],
  ["remove an event of the audit trail", "$JS.API.STREAM.MSG.DELETE.AUDIT", []],
  ["shorten the audit trail", "$JS.API.STREAM.UPDATE.AUDIT", []],
  ["save an agent", "$KV.agents.acme.writer", ["gateway"]],
  ["read an agent", "$JS.API.STREAM.MSG.GET.KV_agents", ["gateway"]],
  ["replace a data key", "$KV.tenant_data_keys.acme.p1", ["gateway", "runtime", "approvals"]],
  ["read a data key", "$JS.API.STREAM.MSG.GET.KV_tenant_data_keys", all],
  ["write an approval", "$KV.approvals.acme.approval_1", ["gateway", "approvals"]],
  ["read an approval", "$JS.API.STREAM.MSG.GET.KV_approvals", ["gateway", "approvals"]],
  ["write a grant", "$KV.grants.acme.grt_1", ["approvals"]],
  ["write a memory", "$KV.memories.acme.user.memory_1", ["gateway", "runtime"]],
  ["read a memory", "$JS.API.STREAM.MSG.GET.KV_memories", ["gateway", "runtime"]],
  ["change the list of runs", "$KV.runs.acme.run_1", ["gateway"]],
  ["create the list of runs", "$JS.API.STREAM.CREATE.KV_runs", ["gateway"]],
  ["create the inbox", "$JS.API.STREAM.CREATE.KV_approvals", ["approvals"]],
  ["change the list of threads", "$KV.threads.acme.thread_1", ["gateway"]],
  ["announce tools", "$KV.tools.default.toolhost-1", ["toolhost"]],
  ["announce models", "$KV.models.default", ["runtime"]],
  ["store an artifact", "$O.artifacts-bytes.C.1", ["gateway", "toolhost"]],
  ["describe an artifact", "$KV.artifacts.acme.artifact_1", ["gateway", "toolhost"]],
  [
    "read an artifact",
    "$JS.API.DIRECT.GET.OBJ_artifacts-bytes",
    ["gateway", "runtime", "toolhost"],
  ],
  ["store a snapshot of a workspace", "$O.workspaces-bytes.C.1", ["toolhost"]],
  [
    "read a snapshot of a workspace",
    "$JS.API.DIRECT.GET.OBJ_workspaces-bytes",
    ["gateway", "toolhost"],
  ],
  ["ask a toolhost for files", "workspace.files.toolhost-1", ["gateway"]],
  ["fill the reserve of the store", "reserve.0", ["gateway"]],
  ["create any stream", "$JS.API.STREAM.CREATE.OTHER", []],
  ["list all streams", "$JS.API.STREAM.LIST", []],
  ["purge the account", "$JS.API.ACCOUNT.PURGE.$G", []],
  ["use the API of the server", "$SYS.REQ.SERVER.PING", []],
  ["ask whether a run is open", "run.liveness", ["toolhost"]],
  ["ask whether a run exists", "run.existence", ["runtime", "approvals"]],
  ["reply in the place of JetStream", "_INBOX.gateway.1", []],
  ["send the gateway files", "_REPLY.gateway.workspace.files.toolhost-1.1", ["toolhost"]],
  [
    "tell a toolhost whether a run is open",
    "_REPLY.toolhost.run.liveness.1",
    ["gateway", "runtime"],
  ],
  ["answer the probe of a toolhost", "_REPLY.toolhost.toolhost.toolhost-1.probe.1", ["toolhost"]],
  ["release a workspace", "_REPLY.toolhost.workspace.release.toolhost-1.1", ["toolhost"]],
  [
    "tell a runtime who holds a run",
    "_REPLY.runtime.holder.runtime-1.probe.1",
    ["runtime", "toolhost"],
  ],
  ["reply to a gateway of an older version", "_REPLY.gateway.1", ["toolhost"]],
  [
    "reply to a runtime of an older version",
    "_REPLY.runtime.1",
    ["gateway", "runtime", "toolhost"],
  ],
  [
    "reply to a toolhost of an older version",
    "_REPLY.toolhost.1",
    ["gateway", "runtime", "toolhost"],
  ],
  ["tell approvals whether a run exists", "_REPLY.approvals.run.existence.1", ["gateway"]],
  ["tell a runtime whether a run exists", "_REPLY.runtime.run.existence.1", ["gateway"]],
  ["reply to approvals", "_REPLY.approvals.1", ["gateway"]],
  ["reply to approvals about a decision", "_REPLY.approvals.decision.1", []],
  ...all.map((name) => [`reply to ${name} about a run`, `_REPLY.${name}.run.acme.1`, []] as const),
];

const subscribed: readonly (readonly [string, string, readonly ServiceName[]])[] = [
  ["everything", ">", []],
  ["the logs of runs", "run.>", []],
  ["writes to buckets", "$KV.>", []],
  ["requests of JetStream's API", "$JS.API.>", []],
  ["the events of a run", "live.run.acme.run_1.log", ["gateway", "runtime", "approvals"]],
  ["the events of a thread", "live.thread.acme.thread_1.log", ["gateway", "runtime"]],
  [
    "the progress of a call",
    "live.tool.journal.acme.run_1.call_1",
    ["gateway", "runtime", "toolhost"],
  ],
  ["requests for files", "workspace.files.toolhost-1", ["toolhost"]],
  ["requests for workspaces", "workspace.release.toolhost-1", ["toolhost"]],
  ["probes of toolhosts", "toolhost.toolhost-1.probe", ["toolhost"]],
  ["probes of takers", "holder.runtime-1.probe", ["runtime", "toolhost"]],
  ["questions whether runs are open", "run.liveness", ["gateway", "runtime"]],
  ["questions whether runs exist", "run.existence", ["gateway"]],
  ...all.map((name) => [`the replies of services to ${name}`, `_REPLY.${name}.>`, [name]] as const),
  ...all.map((name) => [`the replies to ${name}`, `_INBOX.${name}.>`, [name]] as const),
];

describe.each(all)("%s", (service) => {
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
