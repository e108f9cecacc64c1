import { create } from "@bufbuild/protobuf";
import type { TaskPushes } from "@reeve/contracts/a2a";
import { TaskPushesSchema } from "@reeve/contracts/a2a";
import { RunStatus } from "@reeve/contracts/run";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { expect, onTestFinished, test, vi } from "vitest";
import { deliverDue } from "../src/a2a/push/deliver-pushes.ts";
import { createConfig } from "../src/a2a/push/push-configs.ts";
import { pushNotifications } from "../src/a2a/push/push-notifications.ts";
import { pushesKeyOf } from "../src/a2a/push/push-ports.ts";
import { openPushTarget } from "../src/a2a/push/push-target.ts";
import { asks, config, portsFor, quiet, runKey, task } from "./support/a2a-push-ports.ts";
import { startReceiver, statesIn } from "./support/a2a-push-receiver.ts";

const never = new AbortController().signal;

test("a receiver is notified once of each request for input, and once of the end", async () => {
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

test("what becomes due while no receivers are permitted is not delivered later", async () => {
  const { url, posted } = await startReceiver();
  const { ports, isAt } = portsFor(url);
  await createConfig(ports, task, config(url), never);
  await isAt(asks("one"));
  const target = openPushTarget({ prefixes: [], allowedAddresses: [] });
  onTestFinished(() => target[Symbol.asyncDispose]());
  await deliverDue({ ...ports, target }, task, quiet, never);
  await deliverDue(ports, task, quiet, never);
  expect(posted).toEqual([]);
  await isAt({ status: RunStatus.COMPLETED });
  await deliverDue(ports, task, quiet, never);
  expect(statesIn(posted)).toMatchObject([{ state: "TASK_STATE_COMPLETED" }]);
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

test("a task gets its turn however many others wait", async () => {
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
