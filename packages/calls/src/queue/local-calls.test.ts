import { setImmediate } from "node:timers/promises";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
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
  toolOf,
} from "../../test/support/call-bench.ts";
import type { CallPorts } from "../ports/call-ports.ts";
import type { RequestOptions, ExternalSlots } from "./local-calls.ts";
import { LocalCalls } from "./local-calls.ts";
import { workCalls } from "./work-calls.ts";

const options = { dedupeId: key.call };
/** How many calls a loop makes at most. */
const maxLoops = 200;

/** A queue whose toolhost is in the same process. Ended by `stop`, or with the test. Default: one slot. */
async function openProcess(
  ports: CallPorts,
  { slots = 1, external }: { slots?: number; external?: ExternalSlots } = {},
) {
  const log = createLogger("test", "silent");
  const local = new LocalCalls({ pool: "default", log, ...(external && { external }) });
  const queue = new MemoryWorkQueue<ToolCallRequest>();
  const handed = local.queueFor("default", queue);
  const taking = new AbortController();
  const running = new AbortController();
  const signals = { taking: taking.signal, running: running.signal };
  const working = workCalls(queue, { ...ports, local, requests: queue }, slots, signals);
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

/** A queue whose toolhost is in the same process, and takes calls with `take`. */
function openCalls() {
  const local = new LocalCalls({ pool: "default", log: createLogger("test", "silent") });
  const queue = new MemoryWorkQueue<ToolCallRequest>();
  const handed = local.queueFor("default", queue);
  const take = (slots: Semaphore, signal: AbortSignal) =>
    local.take(slots, signal)[Symbol.asyncIterator]();
  return { queue, handed, take };
}

function requestOf(callId: string): ToolCallRequest {
  const wanted = request();
  if (wanted.call !== undefined) wanted.call.callId = callId;
  return wanted;
}

async function ended(ports: CallPorts, call = key.call): Promise<void> {
  for await (const { events } of ports.journal.follow({ ...key, call }, 0, never)) {
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
    const finish = Promise.withResolvers<void>();
    const tool = toolOf(async () => {
      await finish.promise;
      return { content: "", isError: false };
    });
    const { handed, publish } = await openProcess(portsWith(tool));
    const sequence = await publish();
    expect(await handed.holds(sequence, never)).toBe(true);
    finish.resolve();
    await expect.poll(() => handed.holds(sequence, never)).toBe(false);
  });

  test("is in the queue when the toolhost ends before it has a result", async () => {
    const { tool, begun } = patientTool();
    const { queue, publish, stop } = await openProcess(portsWith(tool));
    await publish();
    await begun;
    await stop();
    expect(queue.length).toBe(1);
  });

  test("is in the queue when the toolhost ends before it has begun the call", async () => {
    const { queue, handed, take } = openCalls();
    const taking = new AbortController();
    const calls = take(new Semaphore(1), taking.signal);
    const begun = calls.next();
    await handed.publish(requestOf("busy"), { dedupeId: "busy" }, never);
    (await begun).value.acknowledge();
    await handed.publish(requestOf("next"), { dedupeId: "next" }, never);
    taking.abort(new DOMException("ended", "AbortError"));
    await expect(calls.next()).rejects.toThrow("ended");
    await expect.poll(() => queue.length).toBe(1);
  });

  test("is held in the queue when its tool cannot be called here now", async () => {
    const { queue, handed, publish } = await openProcess({
      ...portsWith(answers),
      toolbox: noTools,
    });
    const sequence = await publish();
    await expect.poll(() => queue.holds(1, never)).toBe(true);
    expect(await handed.holds(sequence, never)).toBe(true);
  });

  test("is held for each owner that requests it, and takes one slot", async () => {
    const { tool, begun } = patientTool();
    const { queue, handed, publish, stop } = await openProcess(portsWith(tool), { slots: 2 });
    const first = await publish();
    await begun;
    const second = await publish();
    expect(second).toBe(first);
    expect(await handed.holds(second, never)).toBe(true);
    await publish("other");
    expect(await publish()).toBe(first);
    expect(queue.length).toBe(0);
    await stop();
  });

  test("is not executed, and frees its slot, when its owner no longer wants it before it has begun", async () => {
    const { queue, handed, take } = openCalls();
    const slots = new Semaphore(1);
    const calls = take(slots, never);
    const begun = calls.next();
    await handed.publish(requestOf("busy"), { dedupeId: "busy" }, never);
    (await begun).value.acknowledge();
    const owner = new AbortController();
    const sequence = await handed.publish(requestOf(key.call), options, owner.signal);
    owner.abort(new DOMException("the run was lost", "AbortError"));
    expect(await handed.holds(sequence, never)).toBe(false);
    expect(slots.available).toBe(1);
    expect(queue.length).toBe(0);
  });
});

test("a call that finds no free slot goes to the queue, and others follow it", async () => {
  const { tool, begun } = patientTool();
  const { publish } = await openProcess(portsWith(tool));
  expect(await publish("busy")).toBeLessThan(0);
  await begun;
  expect(await publish("second")).toBe(1);
  expect(await publish("third")).toBe(2);
});

test("a call of a server has a slot of its own while all others are busy, also while calls wait in the queue", async () => {
  const { tool, begun } = patientTool();
  const withFiles = { ...tool.descriptor, source: "builtin" };
  const ofServer = { ...answers, descriptor: { ...answers.descriptor, name: "remote" } };
  const tools = [{ ...tool, descriptor: withFiles }, ofServer];
  const find = (name: string) => tools.find(({ descriptor }) => descriptor.name === name);
  const toolbox = { find, list: () => tools };
  const slots = new Semaphore(1);
  const ports = { ...portsWith(tool), toolbox };
  const { handed, publish } = await openProcess(ports, { external: { slots, toolbox } });
  const call = (id: string) => {
    const wanted = requestOf(id);
    if (wanted.call !== undefined) wanted.call.name = "remote";
    return handed.publish(wanted, { dedupeId: id }, never);
  };
  expect(await publish("busy")).toBeLessThan(0);
  await begun;
  expect(await publish("waiting")).toBe(1);
  expect(await call("first")).toBeLessThan(0);
  // The only slot of its kind is taken until the result is written.
  expect(await call("second")).toBe(2);
  await ended(ports, "first");
  await expect.poll(() => slots.available).toBe(1);
  expect(await call("third")).toBeLessThan(0);
});

test("a call in the queue starts while runs of this process call in a loop", async () => {
  const tool = toolOf(async () => {
    await setImmediate();
    return { content: "", isError: false };
  });
  const ports = portsWith(tool);
  const { queue, publish } = await openProcess(ports, { slots: 2 });
  const over = new AbortController();
  const loop = async (name: string) => {
    for (let count = 1; count <= maxLoops && !over.signal.aborted; count++) {
      const id = `${name}-${count}`;
      await publish(id);
      await ended(ports, id);
    }
  };
  const loops = Promise.all(["a", "b", "c"].map(loop));
  await setImmediate();
  await queue.publish(requestOf("theirs"), { dedupeId: "theirs" }, never);
  const started = ended(ports, "theirs").then(() => "started");
  expect(await Promise.race([started, loops.then(() => "never started")])).toBe("started");
  over.abort();
  await loops;
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
