import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { TaskPushes } from "@reeve/contracts/a2a";
import { bucketOf } from "@reeve/contracts/channel";
import type { Run } from "@reeve/contracts/run";
import { RunSchema, RunStatus, RunWaitKind } from "@reeve/contracts/run";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { afterEach, expect, test } from "vitest";
import { deliverDue } from "../src/a2a/push/deliver-pushes.ts";
import {
  createConfig,
  deleteConfig,
  getConfig,
  listConfigs,
} from "../src/a2a/push/push-configs.ts";
import { openPushTarget } from "../src/a2a/push/push-target.ts";

const never = new AbortController().signal;
const task = { tenant: "acme", runId: "run_aaaaaaaaaaaa", agentId: "helper" };
const runKey = bucketOf(RunSchema).key({ tenant: "acme", run: task.runId });
const quiet = { warn: () => undefined };
let resources = new AsyncDisposableStack();

afterEach(async () => {
  await resources.disposeAsync();
  resources = new AsyncDisposableStack();
});

interface Posted {
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: unknown;
}

/** A receiver on this host that answers with `statuses`, one after the other, and then with 200. */
async function startReceiver(statuses: number[] = [], headers = {}) {
  const posted: Posted[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const piece of request) body += String(piece);
      posted.push({ headers: request.headers, body: JSON.parse(body) as unknown });
      response.writeHead(statuses.shift() ?? 200, headers).end();
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  resources.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  // A TCP listener has an address and a port.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hooks`, posted };
}

function portsFor(prefix: string, allowedAddresses = ["127.0.0.1"]) {
  const records = new MemoryTable<TaskPushes>();
  const runs = new MemoryTable<Run>();
  const target = resources.use(openPushTarget({ prefixes: [prefix], allowedAddresses }));
  const time = { nowMs: 1_000_000 };
  const clock = { now: () => time.nowMs, sleep: () => Promise.reject(new Error("no sleep")) };
  const known = Object.assign(() => [], { get: () => undefined });
  const ports = { records, runs, target, clock, known };
  const isAt = async (run: MessageInitShape<typeof RunSchema>) =>
    await runs.put(
      runKey,
      create(RunSchema, { ...run, runId: task.runId, threadId: "talk" }),
      never,
    );
  return { ports, time, isAt };
}

const config = (url: string): TaskPushNotificationConfig => ({
  tenant: "",
  id: "",
  taskId: task.runId,
  url,
  token: "known",
  authentication: { scheme: "Bearer", credentials: "secret" },
});

const asks = (id: string) => ({
  status: RunStatus.WAITING,
  waitingFor: [{ kind: RunWaitKind.DECISION, id }],
});

const statesIn = (posted: readonly Posted[]) =>
  posted.map(({ body }) => (body as { statusUpdate: { status: unknown } }).statusUpdate.status);

test("a receiver is told once of each request for input, and once of the end", async () => {
  const { url, posted } = await startReceiver();
  const { ports, isAt } = portsFor(url);
  await createConfig(ports, task, config(url), never);
  const deliver = () => deliverDue(ports, task, quiet, never);
  await deliver();
  for (const status of [RunStatus.RUNNING, RunStatus.WAITING]) {
    await isAt({ status });
    await deliver();
  }
  expect(posted).toEqual([]);
  for (const run of [asks("one"), asks("one"), asks("two"), { status: RunStatus.COMPLETED }]) {
    await isAt(run);
    await deliver();
  }
  expect(statesIn(posted)).toMatchObject([
    { state: "TASK_STATE_INPUT_REQUIRED" },
    { state: "TASK_STATE_INPUT_REQUIRED" },
    { state: "TASK_STATE_COMPLETED" },
  ]);
  expect(posted[0]?.headers).toMatchObject({
    "x-a2a-notification-token": "known",
    authorization: "Bearer secret",
  });
  expect(await ports.records.list("", never)).toEqual([]);
});

test("a receiver that does not answer is tried again at growing intervals, and only by one gateway at a time", async () => {
  const { url, posted } = await startReceiver([503, 503]);
  const { ports, time, isAt } = portsFor(url);
  await createConfig(ports, task, config(url), never);
  await isAt({ status: RunStatus.COMPLETED });
  const deliver = () => deliverDue(ports, task, quiet, never);
  await Promise.all([deliver(), deliver()]);
  expect(posted).toHaveLength(1);
  for (const [afterMs, attempts] of [
    [4_000, 1],
    [1_000, 2],
    [9_000, 2],
    [1_000, 3],
    [60_000, 3],
  ] as const) {
    time.nowMs += afterMs;
    await deliver();
    expect(posted).toHaveLength(attempts);
  }
});

test.each([
  ["refuses it", 400, 1],
  ["redirects it", 302, 1],
  ["never accepts it", 500, 16],
])("a receiver that %s is given up", async (_, status, attempts) => {
  const statuses = Array.from({ length: 100 }, () => status);
  const { url, posted } = await startReceiver(statuses, { location: "http://169.254.169.254/" });
  const { ports, time, isAt } = portsFor(url);
  await createConfig(ports, task, config(url), never);
  await isAt({ status: RunStatus.ERROR });
  for (let attempt = 0; attempt < 30; attempt++) {
    await deliverDue(ports, task, quiet, never);
    time.nowMs += 3_600_000;
  }
  expect(posted).toHaveLength(attempts);
  expect(await ports.records.list("", never)).toEqual([]);
});

test("notifications are sent only where the operator permits it, whatever an address resolves to", async () => {
  const { url, posted } = await startReceiver();
  const { ports, isAt } = portsFor(url, []);
  for (const address of [
    "http://169.254.169.254/",
    "https://elsewhere.example/",
    `${url}evil`,
    `${url}/..%2fother`,
    "file:///etc/passwd",
  ]) {
    await expect(createConfig(ports, task, config(address), never)).rejects.toThrow(
      "REEVE_A2A_PUSH",
    );
  }
  await expect(createConfig(ports, task, config(url), never)).rejects.toThrow("not permitted");
  const named = portsFor("http://localhost:9/", []).ports;
  const receiver = config("http://localhost:9/hook");
  await createConfig({ ...named, records: ports.records }, task, receiver, never).catch(
    () => undefined,
  );
  await isAt({ status: RunStatus.COMPLETED });
  await deliverDue({ ...ports, target: named.target }, task, quiet, never);
  expect(posted).toEqual([]);
});

test("configurations are replaced by id, limited, and listed without credentials", async () => {
  const url = "https://receiver.example/hooks";
  const { ports } = portsFor(url);
  const created = await createConfig(ports, task, config(url), never);
  expect(created.authentication).toEqual({ scheme: "Bearer", credentials: "" });
  await createConfig(ports, task, { ...config(url), id: created.id, token: "new" }, never);
  expect(await listConfigs(ports, task, never)).toMatchObject([{ id: created.id, token: "new" }]);
  expect(await getConfig(ports, task, created.id, never)).toMatchObject({ url });
  await expect(getConfig(ports, task, "other", never)).rejects.toThrow("has no push notification");
  await expect(createConfig(ports, task, { ...config(url), token: "a\nb" }, never)).rejects.toThrow(
    "HTTP headers",
  );
  for (let more = 1; more < 10; more++) await createConfig(ports, task, config(url), never);
  await expect(createConfig(ports, task, config(url), never)).rejects.toThrow("limit");
  await deleteConfig(ports, task, created.id, never);
  expect(await listConfigs(ports, task, never)).toHaveLength(9);
});

test("the notifications of a task that is gone are dropped", async () => {
  const url = "https://receiver.example/hooks";
  const { ports, time } = portsFor(url);
  await createConfig(ports, task, config(url), never);
  await deliverDue(ports, task, quiet, never);
  expect(await ports.records.list("", never)).toHaveLength(1);
  time.nowMs += 601_000;
  await deliverDue(ports, task, quiet, never);
  expect(await ports.records.list("", never)).toEqual([]);
});
