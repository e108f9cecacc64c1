import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { TaskPushes } from "@reeve/contracts/a2a";
import { TaskPushesSchema } from "@reeve/contracts/a2a";
import { Role } from "@reeve/contracts/access/role";
import { bucketOf } from "@reeve/contracts/channel";
import type { Run } from "@reeve/contracts/run";
import { RunSchema, RunStatus, RunWaitKind } from "@reeve/contracts/run";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import type { RecordAct, SystemAct } from "@reeve/jetstream/audit/system-acts";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { afterEach, expect, test, vi } from "vitest";
import { deliverDue } from "../src/a2a/push/deliver-pushes.ts";
import {
  createConfig,
  deleteConfig,
  getConfig,
  listConfigs,
} from "../src/a2a/push/push-configs.ts";
import { pushNotifications } from "../src/a2a/push/push-notifications.ts";
import { pushesKeyOf } from "../src/a2a/push/push-ports.ts";
import { openPushTarget } from "../src/a2a/push/push-target.ts";

const never = new AbortController().signal;
const caller = { subject: "ada", roles: [Role.RUNNER] };
const task = { tenant: "acme", runId: "run_aaaaaaaaaaaa", agentId: "helper", caller };
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
  const known = Object.assign(() => [] as TaskPushes[], { get: () => undefined });
  const acts: SystemAct[] = [];
  const recordAct: RecordAct = async (act, perform) => {
    const isDone = await perform();
    if (isDone) acts.push(act);
    return isDone;
  };
  const ports = { records, runs, target, clock, known, recordAct };
  const isAt = async (run: MessageInitShape<typeof RunSchema>) =>
    await runs.put(
      runKey,
      create(RunSchema, { ...run, runId: task.runId, threadId: "talk" }),
      never,
    );
  return { ports, time, isAt, acts };
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
  const { ports } = portsFor(url, []);
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
  const named = url.replace("127.0.0.1", "localhost");
  const byName = portsFor(named, []);
  await createConfig(byName.ports, task, config(named), never);
  await byName.isAt({ status: RunStatus.COMPLETED });
  const problems: string[] = [];
  const log = { warn: (line: object) => void problems.push(JSON.stringify(line)) };
  await deliverDue(byName.ports, task, log, never);
  expect(posted).toEqual([]);
  expect(problems).toEqual([expect.stringContaining("not permitted")]);
});

test("an address that is permitted no longer is not called, and not logged", async () => {
  const { url, posted } = await startReceiver();
  const { ports, isAt } = portsFor(url);
  await createConfig(ports, task, config(`${url}/a-secret`), never);
  await isAt({ status: RunStatus.COMPLETED });
  const { target } = portsFor("https://other.example/").ports;
  const lines: string[] = [];
  const log = { warn: (line: object) => void lines.push(JSON.stringify(line)) };
  await deliverDue({ ...ports, target }, task, log, never);
  expect(posted).toEqual([]);
  expect(lines).toEqual([expect.stringContaining("permits its URL no longer")]);
  expect(lines[0]).not.toContain("a-secret");
});

test("configurations are replaced by id, limited, and listed without credentials", async () => {
  const url = "https://receiver.example/hooks";
  const { ports } = portsFor(url);
  const created = await createConfig(ports, task, config(url), never);
  expect(created.authentication).toEqual({ scheme: "Bearer", credentials: "" });
  await createConfig(ports, task, { ...config(url), id: created.id, token: "new" }, never);
  expect(await listConfigs(ports, task, never)).toMatchObject([{ id: created.id, token: "" }]);
  expect(await getConfig(ports, task, created.id, never)).toMatchObject({ url });
  await expect(getConfig(ports, task, "other", never)).rejects.toThrow("has no push notification");
  await expect(createConfig(ports, task, { ...config(url), token: "a\nb" }, never)).rejects.toThrow(
    "HTTP headers",
  );
  const further = (token: string) => createConfig(ports, task, { ...config(url), token }, never);
  for (let more = 1; more < 10; more++) await further(`token-${more}`);
  await expect(further("token-10")).rejects.toThrow("limit");
  await deleteConfig(ports, task, created.id, never);
  expect(await listConfigs(ports, task, never)).toHaveLength(9);
});

test("a configuration that is created again, with or without its id, is one, and keeps what was delivered", async () => {
  const { url, posted } = await startReceiver();
  const { ports, isAt } = portsFor(url);
  const created = await createConfig(ports, task, config(url), never);
  await isAt(asks("one"));
  for (const id of ["", created.id]) {
    await deliverDue(ports, task, quiet, never);
    expect(await createConfig(ports, task, { ...config(url), id }, never)).toEqual(created);
  }
  expect(posted).toHaveLength(1);
});

test("changes of configurations are recorded with their caller, and what changes nothing is not", async () => {
  const url = "https://receiver.example/hooks";
  const { ports, acts } = portsFor(url);
  const { id } = await createConfig(ports, task, config(url), never);
  await createConfig(ports, task, config(url), never);
  for (const each of ["other", id, id]) await deleteConfig(ports, task, each, never);
  const resources = [
    { kind: "run", id: task.runId },
    { kind: "push_config", id },
  ];
  const act = { tenant: "acme", ...caller, resources };
  expect(acts).toEqual([
    { ...act, action: "push_config.create" },
    { ...act, action: "push_config.delete" },
  ]);
  expect(JSON.stringify(acts)).not.toMatch(/secret|known|receiver/);
});

test("a tenant has at most 2,000 configurations, whatever others have", async () => {
  const url = "https://receiver.example/hooks";
  const { ports } = portsFor(url);
  const receivers = Array.from({ length: 10 }, () => ({}));
  const full = Array.from({ length: 200 }, () =>
    create(TaskPushesSchema, { tenant: "acme", receivers }),
  );
  const known = Object.assign(() => full, { get: () => undefined });
  const changed = createConfig({ ...ports, known }, task, config(url), never);
  await expect(changed).rejects.toThrow("tenant acme has 2000 push notification configurations");
  await createConfig({ ...ports, known }, { ...task, tenant: "other" }, config(url), never);
});

test("the end of a task does not wait for what a receiver has refused before, and has all attempts", async () => {
  const { url, posted } = await startReceiver(Array.from({ length: 13 }, () => 503));
  const { ports, time, isAt } = portsFor(url);
  await createConfig(ports, task, config(url), never);
  await isAt(asks("one"));
  for (let attempt = 0; attempt < 12; attempt++) {
    await deliverDue(ports, task, quiet, never);
    time.nowMs += 3_600_000;
  }
  await deliverDue(ports, task, quiet, never);
  expect(posted).toHaveLength(13);
  await isAt({ status: RunStatus.COMPLETED });
  await deliverDue(ports, task, quiet, never);
  expect(statesIn(posted).at(-1)).toMatchObject({ state: "TASK_STATE_COMPLETED" });
});

test("a gateway that sees an earlier state of the task does not deliver it after a later one", async () => {
  const { url, posted } = await startReceiver();
  const { ports, isAt } = portsFor(url);
  await createConfig(ports, task, config(url), never);
  await isAt({ ...asks("two"), lastSequence: 20 });
  await deliverDue(ports, task, quiet, never);
  await isAt({ ...asks("one"), lastSequence: 10 });
  await deliverDue(ports, task, quiet, never);
  expect(posted).toHaveLength(1);
});

test("a configuration that is replaced during an attempt gets the notification itself", async () => {
  const { url, posted } = await startReceiver();
  const { ports, isAt } = portsFor(url);
  const { id } = await createConfig(ports, task, config(`${url}/old`), never);
  await isAt({ status: RunStatus.COMPLETED });
  const post: typeof ports.target.post = async (...given) => {
    await createConfig(ports, task, { ...config(`${url}/new`), id }, never);
    return await ports.target.post(...given);
  };
  const target = { ...ports.target, post };
  await deliverDue({ ...ports, target }, task, quiet, never);
  await deliverDue(ports, task, quiet, never);
  expect(posted).toHaveLength(2);
});

test("a store that is away is one line of the log for each tenant", async () => {
  const clock = new ManualClock(1_000_000);
  const { ports } = portsFor("https://receiver.example/");
  const tasks = ["acme", "other"].flatMap((tenant) =>
    Array.from({ length: 50 }, (_, number) =>
      create(TaskPushesSchema, { tenant, runId: `run_${number}`, receivers: [{}] }),
    ),
  );
  let reads = 0;
  const records = Object.assign(new MemoryTable<TaskPushes>(), {
    get: () => Promise.reject(new Error(`the store is away (${(reads += 1)})`)),
  });
  const lines: unknown[] = [];
  const log = { warn: (...line: unknown[]) => void lines.push(line) };
  const ending = new AbortController();
  const known = Object.assign(() => tasks, { get: () => undefined });
  const running = pushNotifications({ ...ports, records, known, clock }, log, ending.signal);
  await vi.waitFor(() => expect(reads).toBe(100));
  ending.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
  expect(lines).toHaveLength(2);
});

test("a task is looked at however many others wait", async () => {
  const clock = new ManualClock(1_000_000);
  const { ports } = portsFor("https://receiver.example/");
  const looked = new Set<string>();
  const runs = {
    get: async (key: string) => {
      looked.add(key);
      return await ports.runs.get(runKey, never);
    },
  };
  const tasks = Array.from({ length: 300 }, (_, number) =>
    create(TaskPushesSchema, { tenant: "acme", runId: `run_${number}`, receivers: [{}] }),
  );
  for (const each of tasks) await ports.records.put(pushesKeyOf(each), each, never);
  const ending = new AbortController();
  const known = Object.assign(() => tasks, { get: () => undefined });
  const running = pushNotifications({ ...ports, runs, known, clock }, quiet, ending.signal);
  await vi.waitFor(() => expect(looked.size).toBe(300));
  ending.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
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
