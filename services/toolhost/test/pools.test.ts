import { jetstreamManager } from "@nats-io/jetstream";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PoolBench } from "./support/pool-bench.ts";
import type { ToolhostProcess } from "./support/toolhost-process.ts";

const patienceMs = 90_000;
let bench: PoolBench;

beforeEach(async () => {
  bench = await PoolBench.open(AbortSignal.timeout(patienceMs));
});

afterEach(() => bench[Symbol.asyncDispose]());

/** Calls of one run, each of which takes a moment. */
async function callsOf(
  runId: string,
  count: number,
  seconds: number,
  first = 0,
): Promise<readonly [ToolCallRequest, ...ToolCallRequest[]]> {
  const requests: ToolCallRequest[] = [];
  for (let index = first; index < first + count; index++) {
    const callId = `${runId}-2-${index}`;
    // Each execution leaves a line, whatever becomes of its result.
    const script = `echo ${callId} >> made; echo ready; sleep ${seconds}`;
    const args = { command: ["sh", "-c", script] };
    requests.push(await bench.ask({ name: "run_command", runId, callId, args }));
  }
  const [only, ...others] = requests;
  if (only === undefined) throw new Error("no call was wanted");
  return [only, ...others];
}

/** What was executed in the workspace of a run, one line for each time. */
async function madeIn(runId: string): Promise<readonly string[]> {
  const call = { name: "read_file", runId, callId: `${runId}-9-0`, args: { path: "made" } };
  const { content } = await bench.outcome(await bench.ask(call));
  return content.trim().split("\n");
}

async function outcomesOf(requests: readonly ToolCallRequest[]) {
  return await Promise.all(requests.map((request) => bench.outcome(request)));
}

/** A host that has begun a call of the run, among those that there are. */
async function holderOf(runId: string, hosts: readonly ToolhostProcess[]) {
  const args = { path: "first", content: "1" };
  const call = { name: "write_file", runId, callId: `${runId}-1-0`, args };
  const [name] = (await bench.outcome(await bench.ask(call))).hosts;
  const holder = hosts.find(({ host }) => host === name);
  if (holder === undefined) throw new Error(`nobody knows ${name}`);
  return holder;
}

test(
  "calls of a run are made where its files are, on one of three hosts",
  async () => {
    await Promise.all([bench.start(), bench.start(), bench.start()]);
    const requests = await callsOf("run_a", 20, 0);
    const outcomes = await outcomesOf(requests);
    expect(outcomes.filter(({ isError }) => isError)).toEqual([]);
    expect(new Set(outcomes.flatMap(({ hosts }) => hosts)).size).toBe(1);
    expect((await madeIn("run_a")).toSorted()).toEqual(
      requests.map(({ call }) => call?.callId).toSorted(),
    );
    // Other runs are made elsewhere too.
    const others = await Promise.all(
      Array.from({ length: 12 }, (_, run) => callsOf(`run_b${run}`, 1, 1)),
    );
    const hosts = (await outcomesOf(others.flat())).flatMap((outcome) => outcome.hosts);
    expect(new Set(hosts).size).toBe(3);
  },
  patienceMs,
);

test(
  "what waits for a host that is killed, and what it had begun, is taken over by the others",
  async () => {
    const one = { REEVE_TOOLHOST_CONCURRENCY: "1" };
    const hosts = await Promise.all([bench.start(one), bench.start(one), bench.start(one)]);
    const holder = await holderOf("run_k", hosts);
    const [begun] = await callsOf("run_k", 1, 600);
    expect(await bench.reaches(begun, "progress")).toBe(holder.host);
    const waiting = await callsOf("run_k", 3, 0, 1);
    await expect.poll(() => sentTo(holder.host), { timeout: 20_000 }).toBe(3);
    const killedAt = performance.now();
    await bench.kill(holder);
    const outcomes = await outcomesOf(waiting);
    expect(outcomes.filter(({ isError }) => isError)).toEqual([]);
    expect(outcomes.flatMap((outcome) => outcome.hosts)).not.toContain(holder.host);
    expect(outcomes.map((outcome) => outcome.hosts.length)).toEqual([1, 1, 1]);
    const lost = await bench.outcome(begun);
    expect(lost).toMatchObject({ isError: true, hosts: [holder.host] });
    expect(lost.content).toContain("unknown");
    console.log(`taken over and done after ${Math.round(performance.now() - killedAt)} ms`);
    expect((await madeIn("run_k")).toSorted()).toEqual(
      [begun, ...waiting].map(({ call }) => call?.callId).toSorted(),
    );
    // Its queue is taken away when nothing is left in it.
    await expect.poll(() => queues(), { timeout: 40_000 }).not.toContain(`default=${holder.host}`);
  },
  patienceMs,
);

/** Names of the consumers of the queues. */
async function queues(): Promise<readonly string[]> {
  const manager = await jetstreamManager(bench.nats.connection);
  const found = await Array.fromAsync(manager.consumers.list("TOOL_CALLS"));
  return found.map(({ name }) => name);
}

/** How many calls lie for a host that it has not taken. */
async function sentTo(host: string): Promise<number> {
  const manager = await jetstreamManager(bench.nats.connection);
  const info = await manager.consumers.info("TOOL_CALLS", `default=${host}`);
  return info.num_pending;
}
