import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import { RunSchema, RunStatus } from "@reeve/contracts/run";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { Cluster } from "../../cluster.ts";
import type { Benchmark, Figure } from "../../figure.ts";
import { agentOf, parkRuns, runIdOf } from "../../inbox/parked-runs.ts";
import { timesOf } from "../../measure.ts";
import { memoryNow, serviceOf } from "../../memory-of.ts";
import { createTakeoverAgents, killOnce } from "../../kill-worker.ts";
import { createAgent, ended, run } from "../../runs.ts";
import type { Taken } from "../../takeovers.ts";

const finished = Number(process.env["REEVE_BENCH_RUNS"] ?? 1_000_000);
const waiting = finished / 10;
const listings = 200;
const kills = 6;
const tenant = "bench";
/** How long the gateway runs without requests while its event loop is watched: a few rounds of the sweeper. */
const restMs = 30_000;
const unit = "ms";

/** Lists, starts, and the sweeper of a deployment that has seen a million runs, and in which a tenth as many wait for a person. */
export const manyRuns: Benchmark = {
  name: "many-runs",
  maxMs: 3_600_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using cluster = await Cluster.start(2, signal);
    await createAgent(cluster, { id: "talker", model: "openai:text:20" }, signal);
    await createTakeoverAgents(cluster, signal);
    yield* whileServing(cluster, "few runs", signal);
    await parkRuns(cluster, { from: 0, count: waiting }, signal);
    await cluster.kill("gateway");
    await writeFinished(cluster, signal);
    const counts = `${finished + waiting} runs`;
    yield* starts(cluster, "gateway, from its start to its first list, without an index", signal);
    yield await longestBlock(cluster, "gateway", `while the index of ${counts} is built`, signal);
    await forgetBlocks(cluster, signal);
    yield* whileServing(cluster, counts, signal);
    yield* longestBlocks(cluster, `during lists of ${counts}`, signal);
    yield* takeovers(cluster, counts, signal);
    // The new workers have loaded their modules.
    await forgetBlocks(cluster, signal);
    await setTimeout(restMs, undefined, { signal });
    yield* longestBlocks(cluster, `during 30 s of sweeps of ${waiting} waiting runs`, signal);
    yield* memoryNow(cluster, counts, signal);
    await cluster.kill("gateway");
    yield* starts(cluster, "gateway killed, from its start to its first list", signal);
  },
};

/** Starts and measures runs, and lists, gets, and filters the existing ones. */
async function* whileServing(
  cluster: Cluster,
  counts: string,
  signal: AbortSignal,
): AsyncIterable<Figure> {
  const { runs } = cluster.reeve;
  const name = (what: string) => `${what}, ${counts}`;
  yield {
    name: name("a whole run of 20 tokens"),
    unit,
    values: await timesOf(50, () => run(cluster, "talker", signal)),
  };
  const runIds: string[] = [];
  const startRun = async () => {
    const { run: started } = await runs.startRun({ agentId: "talker", input: "go" }, { signal });
    runIds.push(started?.runId ?? "");
  };
  yield { name: name("a run started"), unit, values: await timesOf(50, startRun) };
  for (const runId of runIds) await ended(cluster, runId, signal);
  let pageToken = "";
  const next = async () => {
    ({ nextPageToken: pageToken } = await runs.listRuns({ pageSize: 100, pageToken }, { signal }));
  };
  yield {
    name: name("100 runs listed, page by page"),
    unit,
    values: await timesOf(listings, next),
  };
  const filters = [
    { agentId: "agent-7" },
    { statuses: [RunStatus.WAITING] },
    { agentId: "agent-7", statuses: [RunStatus.ERROR, RunStatus.COMPLETED] },
  ];
  for (const filter of filters) {
    const list = () => runs.listRuns({ pageSize: 100, ...filter }, { signal });
    const fields = Object.keys(filter).join(" and ");
    yield {
      name: name(`100 runs listed by ${fields}`),
      unit,
      values: await timesOf(listings, list),
    };
  }
  const inbox = () => cluster.reeve.approvals.listApprovals({ pageSize: 100 }, { signal });
  yield { name: name("100 approvals listed"), unit, values: await timesOf(listings, inbox) };
  const { runId } = await run(cluster, "talker", signal);
  const get = () => runs.getRun({ runId }, { signal });
  yield { name: name("a run read"), unit, values: await timesOf(listings, get) };
}

/** Starts the gateway, and measures until it answers and until it lists. */
async function* starts(cluster: Cluster, name: string, signal: AbortSignal): AsyncIterable<Figure> {
  const startedAt = performance.now();
  await cluster.startService("gateway", signal);
  const values = [performance.now() - startedAt];
  yield { name: "gateway, from its start to its port", unit, values };
  // Until then, it has loaded its modules.
  await cluster.longestBlockMs("gateway", signal);
  for (;;) {
    const listed = await cluster.reeve.runs.listRuns({ pageSize: 1 }, { signal }).then(
      () => true,
      () => false,
    );
    signal.throwIfAborted();
    if (listed) break;
  }
  yield { name, unit, values: [performance.now() - startedAt] };
}

/** Kills workers, and measures until their runs have their next event. */
async function* takeovers(cluster: Cluster, counts: string, signal: AbortSignal) {
  const taken: Taken[] = [];
  for (let kill = 0; kill < kills; kill++) taken.push(...(await killOnce(cluster, signal)));
  const values = taken.map(({ nextEventMs }) => nextEventMs);
  yield { name: `worker killed, to the next event, ${counts}`, unit, values };
}

async function forgetBlocks(cluster: Cluster, signal: AbortSignal): Promise<void> {
  for (const name of cluster.names) await cluster.longestBlockMs(name, signal);
}

async function* longestBlocks(cluster: Cluster, when: string, signal: AbortSignal) {
  for (const name of cluster.names) yield await longestBlock(cluster, name, when, signal);
}

async function longestBlock(
  cluster: Cluster,
  process: string,
  when: string,
  signal: AbortSignal,
): Promise<Figure> {
  const values = [await cluster.longestBlockMs(process, signal)];
  const name = `${serviceOf(process)}, longest turn of its event loop ${when}`;
  return { name, unit, values, aim: { median: 50 } };
}

/** Writes the rows of finished runs, as the gateway does. */
async function writeFinished(cluster: Cluster, signal: AbortSignal): Promise<void> {
  await using nats = await connectNats(cluster.natsUrl, { name: "bench", log }, signal);
  const { name, key } = bucketOf(RunSchema);
  const now = Date.now();
  for (let at = 0; at < finished; at++) {
    const runId = runIdOf("f", at);
    const createdAt = timestampFromMs(now - finished + at);
    const status = at % 10 === 0 ? RunStatus.ERROR : RunStatus.COMPLETED;
    const row = create(RunSchema, {
      runId,
      status,
      createdAt,
      agentId: agentOf(at),
      endedAt: createdAt,
      lastSequence: 9,
      inputPreview: preview,
    });
    const subject = `$KV.${name}.${key({ tenant, run: runId })}`;
    const data = toBinary(RunSchema, row);
    // The server drops what comes faster than it stores.
    if (at % 1_000 < 999) nats.connection.publish(subject, data);
    else await stored(nats, subject, data);
  }
}

async function stored({ connection }: Nats, subject: string, data: Uint8Array) {
  await connection.request(subject, data, { timeout: 60_000 });
}

const log = createLogger("bench", "silent");
const preview = "Please do this and that for me. ".repeat(4);
