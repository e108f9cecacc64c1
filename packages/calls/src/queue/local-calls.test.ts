import { setImmediate } from "node:timers/promises";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  answers,
  factsIn,
  key,
  kinds,
  never,
  noTools,
  patientTool,
  portsWith,
  request,
  resultIn,
} from "../../test/support/call-bench.ts";
import type { CallPorts } from "../ports/call-ports.ts";
import type { RequestOptions } from "./local-calls.ts";
import { LocalCalls } from "./local-calls.ts";
import { workCalls } from "./work-calls.ts";

const options = { dedupeId: key.call };

/** A queue whose toolhost is in the same process, with one slot. Ended by `stop`, or with the test. */
async function openProcess(ports: CallPorts, { maxWaitMs = 60_000 } = {}) {
  const local = new LocalCalls({ pool: "default", log: createLogger("test", "silent"), maxWaitMs });
  const queue = new MemoryWorkQueue<ToolCallRequest>();
  const handed = local.queueFor("default", queue);
  const taking = new AbortController();
  const running = new AbortController();
  const signals = { taking: taking.signal, running: running.signal };
  const working = workCalls(queue, { ...ports, local, requests: queue }, 1, signals);
  const stop = async () => {
    for (const each of [taking, running]) each.abort(new DOMException("ended", "AbortError"));
    await working;
  };
  onTestFinished(stop);
  // The toolhost begins to take calls.
  await setImmediate();
  const publish = (id = key.call, more: Partial<RequestOptions> = {}, signal = never) =>
    handed.publish(requestOf(id), { ...options, dedupeId: id, ...more }, signal);
  return { local, queue, handed, publish, stop };
}

function requestOf(callId: string): ToolCallRequest {
  const wanted = request();
  if (wanted.call !== undefined) wanted.call.callId = callId;
  return wanted;
}

async function ended(ports: CallPorts): Promise<void> {
  for await (const { events } of ports.journal.follow(key, 0, never)) {
    if (events.some(({ fact }) => fact.case === "result")) return;
  }
}

describe("a call that is handed over in one process", () => {
  test("is executed without a message, and its journal says so", async () => {
    const ports = portsWith(answers);
    const { queue, publish } = await openProcess(ports);
    expect(await publish()).toBeLessThan(0);
    await ended(ports);
    expect(queue.length).toBe(0);
    const [started] = await factsIn(ports);
    expect(started?.fact.value).toMatchObject({ host: "toolhost-a", requestSequence: 0n });
    expect(resultIn(await factsIn(ports)).content).toBe("echo null");
  });

  test("is executed once, however often it is handed over", async () => {
    const ports = portsWith(answers);
    const { publish } = await openProcess(ports);
    await Promise.all([publish(), publish()]);
    await ended(ports);
    await publish();
    expect(kinds(await factsIn(ports))).toEqual(["started", "result"]);
  });

  test("is held until its result is written", async () => {
    const { tool, begun } = patientTool();
    const { handed, publish, stop } = await openProcess(portsWith(tool));
    const sequence = await publish();
    await begun;
    expect(await handed.holds(sequence, never)).toBe(true);
    await stop();
    expect(await handed.holds(sequence, never)).toBe(false);
  });

  test("is in the queue when the toolhost ends before it has a result", async () => {
    const { tool, begun } = patientTool();
    const { queue, publish, stop } = await openProcess(portsWith(tool));
    await publish();
    await begun;
    await stop();
    expect(queue.length).toBe(1);
  });

  test("is in the queue when the toolhost ends before it has a slot", async () => {
    const { tool, begun } = patientTool();
    const { queue, publish, stop } = await openProcess(portsWith(tool));
    await publish("busy");
    await begun;
    await publish();
    await stop();
    expect(queue.length).toBe(2);
  });

  test("is in the queue when its tool cannot be called here now", async () => {
    const { queue, publish } = await openProcess({ ...portsWith(answers), toolbox: noTools });
    await publish();
    await expect.poll(() => queue.holds(1, never)).toBe(true);
  });

  test("is not executed when its owner no longer wants it before it has a slot", async () => {
    const { tool, begun } = patientTool();
    const { queue, handed, publish, stop } = await openProcess(portsWith(tool));
    await publish("busy");
    await begun;
    const owner = new AbortController();
    const sequence = await publish(key.call, {}, owner.signal);
    owner.abort(new DOMException("the run was lost", "AbortError"));
    expect(await handed.holds(sequence, never)).toBe(false);
    await stop();
    expect(queue.length).toBe(1);
  });
});

test("a call that finds no free slot in time goes to the queue, and others follow it", async () => {
  const { tool, begun } = patientTool();
  const { queue, publish } = await openProcess(portsWith(tool), { maxWaitMs: 1 });
  expect(await publish("busy")).toBeLessThan(0);
  await begun;
  expect(await publish("second")).toBeLessThan(0);
  await expect.poll(() => queue.length).toBe(1);
  expect(await publish("third")).toBe(2);
});

test("a call of another pool, and one without a toolhost that takes calls, go to the queue", async () => {
  const { local, queue, publish, stop } = await openProcess(portsWith(answers));
  expect(local.queueFor("other", queue)).toBe(queue);
  await stop();
  expect(await publish()).toBe(1);
});

test("a run is looked up before its call starts, unless its owner knows that it is open", async () => {
  let lookups = 0;
  const isRunOver = async () => ++lookups > 0;
  const known = { ...portsWith(answers), isRunOver };
  const process = await openProcess(known);
  await process.publish(key.call, { isRunOpen: () => true });
  await ended(known);
  expect(lookups).toBe(0);
  const unknown = { ...portsWith(answers), isRunOver };
  const { handed, publish } = await openProcess(unknown);
  const sequence = await publish(key.call, { isRunOpen: () => false });
  await expect.poll(() => handed.holds(sequence, never)).toBe(false);
  expect(lookups).toBe(1);
  expect(await factsIn(unknown)).toEqual([]);
});
