import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { RunStatus } from "@reeve/contracts/run";
import { openArtifactStore } from "@reeve/jetstream/objects/nats-artifact-store";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { Failure } from "@reeve/platform/failure";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Clients } from "./support/clients.ts";
import { clientsOf } from "./support/clients.ts";
import type { GatewayBench } from "./support/gateway-bench.ts";
import { openGatewayBench, tokens } from "./support/gateway-bench.ts";

const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "reeve-quotas-"));
const file = join(folder, "quotas.json");
let bench: GatewayBench;
let gateways: readonly Clients[];
let globex: Clients;

function setQuotas(...quotas: readonly object[]): void {
  writeFileSync(file, JSON.stringify({ quotas }));
}

beforeAll(async () => {
  setQuotas();
  bench = await openGatewayBench({ REEVE_QUOTAS_FILE: file });
  const urls = [bench.url, await bench.startAnother()];
  gateways = urls.map((url) => clientsOf(url, `Bearer ${tokens.acme}`, "gRPC"));
  globex = clientsOf(bench.url, `Bearer ${tokens.globex}`, "gRPC");
  const spec = create(AgentSpecSchema, { id: "known", name: "known", model: "known" });
  await gateways[0]?.agents.createAgent({ spec });
  await globex.agents.createAgent({ spec });
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const gateway = (turn: number): Clients => {
  const found = gateways[turn % gateways.length];
  if (found === undefined) throw new Error("there is no gateway");
  return found;
};

const start = (clients: Clients) => clients.runs.startRun({ agentId: "known", input: "hello" });

/** What the first gateway answers to a start. */
const firstAnswer = async () => await start(gateway(0)).catch(failureFrom);

async function openRuns(): Promise<readonly string[]> {
  const { runs } = await gateway(0).runs.listRuns({ pageSize: 1_000 });
  return runs.filter(({ endedAt }) => endedAt === undefined).map(({ runId }) => runId);
}

/** Cancels the open runs of the tenant. Returns how many are left. */
async function cancelAll(): Promise<number> {
  await Promise.all((await openRuns()).map((runId) => gateway(0).runs.cancelRun({ runId })));
  return (await openRuns()).length;
}

beforeEach(async () => {
  setQuotas();
  await vi.waitUntil(async () => (await cancelAll().catch(() => -1)) === 0, { timeout: 30_000 });
});

test("two gateways together admit as many open runs as a quota allows, and more when some end", async () => {
  setQuotas({ name: "few", tenants: ["acme"], open_runs: 5 });
  // Each gateway reads the file on its own.
  for (const turn of [0, 1]) {
    await expect
      .poll(async () => {
        const refusal = await start(gateway(turn)).catch(failureFrom);
        return refusal instanceof Failure ? refusal.metadata : undefined;
      })
      .toEqual({ quota: "few", limit: "open_runs", max: "5" });
  }
  const before = await openRuns();
  expect(before.length).toBeGreaterThanOrEqual(5);
  for (const runId of before) await gateway(0).runs.cancelRun({ runId });
  await expect.poll(async () => (await openRuns()).length).toBe(0);
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, (_, turn) => start(gateway(turn)).catch(failureFrom)),
  );
  expect(outcomes.filter((outcome) => !(outcome instanceof Failure))).toHaveLength(5);
  expect(await openRuns()).toHaveLength(5);
  expect((await start(globex)).run?.runId).toMatch(/^run_/);
});

test("a request beyond the rate is refused with the time after which it is accepted", async () => {
  setQuotas({ name: "slow", tenants: ["acme"], requests_per_second: 0.5 });
  const refusals: Failure[] = [];
  await expect
    .poll(async () => {
      const answer = await gateway(0).runs.listRuns({}).catch(failureFrom);
      if (answer instanceof Failure) refusals.push(answer);
      return refusals.length;
    })
    .toBeGreaterThan(0);
  const [refusal] = refusals;
  expect(refusal?.metadata).toEqual({
    quota: "slow",
    limit: "requests_per_second",
    max: "0.5",
  });
  expect(refusal?.retryAfterMs).toBeGreaterThan(0);
  expect(refusal?.retryAfterMs).toBeLessThanOrEqual(2_000);
  await globex.runs.listRuns({});
});

test("a stream beyond the quota is refused until another one ends", async () => {
  const { run } = await start(gateway(0));
  const runId = run?.runId ?? "";
  await bench.append(runId, { case: "runClaimed", value: { worker: "w" } });
  setQuotas({ name: "one", tenants: ["acme"], per: "subject", streams: 1 });
  const leave = new AbortController();
  /** Opens a stream, which stays open. Returns why it is refused. */
  const refusal = async (signal: AbortSignal) => {
    const watch = gateway(0).runs.watchRun({ runId }, { signal });
    const first = await watch[Symbol.asyncIterator]().next().catch(failureFrom);
    return first instanceof Failure ? first.metadata : undefined;
  };
  const limit = { quota: "one", limit: "streams", max: "1" };
  await expect.poll(() => refusal(leave.signal)).toEqual(limit);
  leave.abort();
  const last = new AbortController();
  await expect.poll(() => refusal(last.signal)).toBeUndefined();
  last.abort();
});

test("runs per day stay counted when a request id is used again, with another body or after a deletion", async () => {
  setQuotas({ name: "daily", tenants: ["acme"], runs_per_day: 6 });
  const limit = { quota: "daily", limit: "runs_per_day", max: "6" };
  let starts = 0;
  await expect
    .poll(
      async () => {
        const requestId = `again-${starts % 3}`;
        const request = { agentId: "known", requestId };
        const answers = await Promise.all(
          ["one", "two"].map((input, turn) =>
            gateway(turn)
              .runs.startRun({ ...request, input })
              .catch(failureFrom),
          ),
        );
        for (const answer of answers) {
          if (answer instanceof Failure || answer.run === undefined) continue;
          const { runId } = answer.run;
          await gateway(0).runs.cancelRun({ runId });
          await gateway(1).runs.deleteRun({ runId });
          starts++;
        }
        return answers.find((answer) => answer instanceof Failure && "quota" in answer.metadata);
      },
      { timeout: 60_000 },
    )
    .toMatchObject({ metadata: limit });
  // A gateway admits runs until it has read the file.
  await expect.poll(firstAnswer, { timeout: 60_000 }).toMatchObject({ metadata: limit });
});

async function* report(bytes: number) {
  yield await Promise.resolve(new Uint8Array(bytes));
}

test("no run starts once the runs of the day have cost what a quota allows, also when they are deleted", async () => {
  // Until the gateway has read that the quotas of the test before are gone.
  const { run } = await vi.waitFor(() => start(gateway(0)), { timeout: 30_000, interval: 200 });
  const runId = run?.runId ?? "";
  setQuotas({ name: "budget", tenants: ["acme"], cost_per_day_usd: 2 });
  await bench.append(
    runId,
    { case: "costSummary", value: { llmCalls: 1, costUsd: 2.5 } },
    { case: "status", value: { status: RunStatus.COMPLETED } },
  );
  const limit = { quota: "budget", limit: "cost_per_day_usd", max: "2" };
  for (const turn of [0, 1]) {
    await expect
      .poll(async () => await start(gateway(turn)).catch(failureFrom), { timeout: 30_000 })
      .toMatchObject({ metadata: limit });
  }
  await gateway(0).runs.deleteRun({ runId });
  expect(await start(gateway(1)).catch(failureFrom)).toMatchObject({ metadata: limit });
  expect((await start(globex)).run?.runId).toMatch(/^run_/);
});

test("two gateways together store as many bytes of artifacts as a quota allows, with those of toolhosts, until some are deleted", async () => {
  // Each artifact counts at least one kibibyte.
  const kib = 1024;
  const max = 10 * kib;
  const tools = await openArtifactStore(bench.nats, { maxBytes: max });
  const draft = { name: "report", mediaType: "", runId: "run_1", createdBy: "ann" };
  const { artifactId } = await tools.put("acme", draft, report(5 * kib), never);
  setQuotas({ name: "disk", tenants: ["acme"], per: "subject", artifact_bytes: max });
  const create = (turn: number, bytes: number) =>
    gateway(turn)
      .artifacts.createArtifact({ header: { name: "a" }, content: new Uint8Array(bytes) })
      .catch(failureFrom);
  const limit = { quota: "disk", limit: "artifact_bytes", max: String(max) };
  for (const turn of [0, 1]) {
    await expect
      .poll(() => create(turn, 900), { timeout: 30_000 })
      .toMatchObject({ metadata: limit });
  }
  const { artifacts } = await gateway(0).artifacts.listArtifacts({});
  for (const { artifactId: early, runId } of artifacts) {
    if (runId === "") await gateway(0).artifacts.deleteArtifact({ artifactId: early });
  }
  const outcomes = await Promise.all(Array.from({ length: 20 }, (_, turn) => create(turn, 100)));
  const stored = outcomes.filter((outcome) => !(outcome instanceof Failure)).length;
  expect(stored).toBeLessThanOrEqual(5);
  // What has just been stored counts twice for a moment, so a racing upload may be refused although there is room for it.
  for (let more = stored; more < 5; more++) {
    expect(await create(more, 100)).not.toBeInstanceOf(Failure);
  }
  for (const turn of [0, 1]) expect(await create(turn, 100)).toMatchObject({ metadata: limit });
  expect(await firstAnswer()).toMatchObject({ metadata: limit });
  await gateway(1).artifacts.deleteArtifact({ artifactId });
  expect(await create(0, 500)).not.toBeInstanceOf(Failure);
});

// Requirement: KNOW-9
test("two gateways together store as many documents as a quota allows, and report what is used", async () => {
  setQuotas({ name: "shelf", tenants: ["acme"], documents: 2, collection_bytes: 100_000 });
  const { knowledge } = gateway(0);
  const collectionId = "shelf";
  await knowledge.createCollection({ collectionId });
  const source = { case: "content", value: new Uint8Array(Buffer.from("a cat")) } as const;
  const add = (turn: number, name: string) =>
    gateway(turn).knowledge.addDocument({ collectionId, name, source }).catch(failureFrom);
  const used = async (turn: number) =>
    (await gateway(turn).operations.listQuotas({})).limits.map((each) => each.used);
  await expect.poll(() => used(0), { timeout: 30_000 }).toEqual([0, 0]);
  await expect.poll(() => used(1), { timeout: 30_000 }).toEqual([0, 0]);
  const names = ["a.md", "b.md", "c.md", "d.md"];
  const outcomes = await Promise.all(names.map((name, turn) => add(turn, name)));
  const refused = outcomes.filter((outcome) => outcome instanceof Failure);
  // What has just been stored counts twice for a moment.
  expect(refused.length).toBeGreaterThanOrEqual(2);
  for (let more = names.length - refused.length; more < 2; more++) {
    expect(await add(0, `${more}.md`)).not.toBeInstanceOf(Failure);
  }
  expect(await add(1, "e.md")).toMatchObject({ metadata: { quota: "shelf", limit: "documents" } });
  // Small ones count one kibibyte.
  expect(await used(1)).toEqual([2_048, 2]);
  expect((await knowledge.listDocuments({ collectionId })).documents).toHaveLength(2);
});
