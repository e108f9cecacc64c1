import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { Projection } from "@reeve/contracts/projection";
import { ProjectionSchema } from "@reeve/contracts/projection";
import { SweeperPresenceSchema } from "@reeve/contracts/sweeper";
import { requestRebuild } from "@reeve/jetstream/projection/request-rebuild";
import { openTable } from "@reeve/jetstream/table/nats";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Clients } from "./support/clients.ts";
import { clientsOf } from "./support/clients.ts";
import type { GatewayBench } from "./support/gateway-bench.ts";
import { openGatewayBench, tokens } from "./support/gateway-bench.ts";

const never = new AbortController().signal;

let bench: GatewayBench;
let gateways: readonly [Clients, Clients];

beforeAll(async () => {
  bench = await openGatewayBench();
  const urls = [bench.url, await bench.startAnother()] as const;
  const [first, second] = urls.map((url) => clientsOf(url, `Bearer ${tokens.acme}`, "gRPC"));
  if (first === undefined || second === undefined) throw new Error("a gateway is missing");
  gateways = [first, second];
  const spec = create(AgentSpecSchema, { id: "known", name: "known", model: "known" });
  await first.agents.createAgent({ spec });
});

afterAll(() => bench[Symbol.asyncDispose]());

async function start(threadId = ""): Promise<string> {
  const { run } = await gateways[0].runs.startRun({ agentId: "known", input: "hello", threadId });
  return run?.runId ?? "";
}

async function lists(at: 0 | 1) {
  const { runs } = await gateways[at].runs.listRuns({ pageSize: 100 });
  const { threads } = await gateways[at].threads.listThreads({ pageSize: 100 });
  return { runs, threads };
}

const counts = ({ runs, threads }: Awaited<ReturnType<typeof lists>>) => [
  runs.length,
  threads.length,
];

/** Deletes the bucket of a projection, as an operator or a fault may. */
async function deleteBucket(name: string): Promise<void> {
  await bench.nats.connection.request(`$JS.API.STREAM.DELETE.KV_${name}`);
}

test("indexes whose buckets are deleted are restored, equal and complete, while runs start and end", async () => {
  await Promise.all([...Array.from({ length: 20 }, () => start()), start("a"), start("b")]);
  const cancelled = await start();
  await gateways[0].runs.cancelRun({ runId: cancelled });
  await expect.poll(async () => counts(await lists(0))).toEqual([23, 2]);
  await expect
    .poll(async () => (await lists(0)).runs.filter(({ endedAt }) => endedAt !== undefined).length)
    .toBe(1);
  const before = await lists(0);

  await deleteBucket("runs");
  await deleteBucket("threads");
  await deleteBucket("sweepers");
  const later = await Promise.all([start(), start("c")]);

  await expect.poll(async () => counts(await lists(1)), { timeout: 60_000 }).toEqual([25, 3]);
  const after = await lists(0);
  expect(after.runs.filter(({ runId }) => !later.includes(runId))).toEqual(before.runs);
  expect(after.threads.filter(({ threadId }) => threadId !== "c")).toEqual(before.threads);
});

// Requirement: DUR-3
test("gateways are present again after the bucket of their presence was deleted, and agents can be changed", async () => {
  const exists = async () => {
    const answer = await bench.nats.connection.request("$JS.API.STREAM.INFO.KV_sweepers");
    return !answer.string().includes("stream not found");
  };
  await expect.poll(exists, { timeout: 30_000 }).toBe(true);
  // Opening creates a bucket that is missing.
  const sweepers = await openTable(bench.nats, SweeperPresenceSchema);
  const present = async () => (await sweepers.list("", never)).length;
  await expect.poll(present, { timeout: 30_000 }).toBe(2);
  const spec = create(AgentSpecSchema, { id: "known", name: "changed", model: "known" });
  const { agent } = await gateways[1].agents.updateAgent({ spec });
  const { run } = await gateways[0].runs.startRun({ agentId: "known", input: "hello" });
  expect(run?.agentRevision).toBe(agent?.revision);
});

test("a requested rebuild corrects rows that are wrong or missing, and reports its progress", async () => {
  const runId = await start();
  await expect
    .poll(async () => (await lists(0)).runs.some((run) => run.runId === runId))
    .toBe(true);
  await bench.nats.connection.request(`$KV.runs.acme.${runId}`, new Uint8Array());
  await expect
    .poll(async () => (await lists(1)).runs.some((run) => run.runId === runId))
    .toBe(false);
  const states = await openTable(bench.nats, ProjectionSchema);
  const seen: Projection[] = [];
  for await (const state of requestRebuild(states, "runs", never)) seen.push(state);
  const last = seen.at(-1);
  expect(last?.rebuild?.repaired).toBeGreaterThanOrEqual(1n);
  expect(last?.rebuild?.failed).toBe(0n);
  expect((await lists(1)).runs.some((run) => run.runId === runId)).toBe(true);
});
