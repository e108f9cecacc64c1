import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { RunBatchSchema, RunEventSchema } from "@reeve/contracts/run";
import { openRunLog } from "@reeve/jetstream/log/open";
import { emptyTail } from "@reeve/jetstream/log/port";
import { provisionStreams } from "@reeve/jetstream/streams/provision-streams";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Benchmark, Figure } from "../../figure.ts";
import { rateOf } from "../../measure.ts";
import { usageOf } from "../../process-usage.ts";

const rounds = 5;
/** Runs that append at the same time. */
const concurrency = 64;
/** Batches of a log, each of as many tokens as a fast model streams between two appends. */
const batches = 100;
const tokens = 20;
const log = createLogger("bench", "silent");

/**
 * Batches of tokens that one server takes a second, in stores with 1, 4, and 16 shards. The floor is the number of the same messages that one
 * stream takes without a condition. It says what a stream carries, not what more servers bring: here, all shards share one.
 */
export const shards: Benchmark = {
  name: "shards",
  maxMs: 300_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    for (const runShards of [1, 4, 16]) yield await measured(runShards, signal);
  },
};

async function measured(runShards: number, signal: AbortSignal): Promise<Figure> {
  const folder = mkdtempSync(join(tmpdir(), "reeve-bench-"));
  try {
    await using server = await startNatsServer({ storeDir: join(folder, "nats"), log }, signal);
    await using nats = await connectNats(server.url, { name: "bench", log }, signal);
    await provisionStreams(nats, { pools: [], ackWaitMs: 1_000, runShards }, signal);
    const runs = await openRunLog(nats);
    let count = 0;
    const append = async () => {
      const key = { tenant: "bench", run: `run_${++count}` };
      let tail = emptyTail;
      for (let batch = 0; batch < batches; batch++) {
        const outcome = await runs.append(key, tail, textsAfter(tail.sequence), signal);
        if (outcome.kind === "conflict") throw new Error("nobody else appends");
        ({ tail } = outcome);
      }
    };
    const manager = await jetstreamManager(nats.connection);
    await manager.streams.add({ name: "FLOOR", subjects: ["floor.*"] });
    const client = jetstream(nats.connection);
    const data = toBinary(RunBatchSchema, create(RunBatchSchema, { events: textsAfter(0) }));
    const publish = () => client.publish(`floor.${++count % concurrency}`, data);
    const lanes = () => rateOf(concurrency, concurrency, append);
    const plain = () => rateOf(concurrency * batches, concurrency, publish);
    await lanes();
    await plain();
    const values: number[] = [];
    const floors: number[] = [];
    let cpuMs = 0;
    for (let round = 0; round < rounds; round++) {
      floors.push(await plain());
      const before = usageOf(server.pid).cpuMs;
      values.push((await lanes()) * batches);
      cpuMs += (usageOf(server.pid).cpuMs - before) / (rounds * concurrency * batches);
    }
    const name = `batches of ${tokens} tokens, ${concurrency} runs at once, shards: ${runShards}; CPU of NATS`;
    return { name, unit: "batches/s", values, floors, cpuMs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function textsAfter(sequence: number) {
  return Array.from({ length: tokens }, (_, index) =>
    create(RunEventSchema, {
      sequence: sequence + 1 + index,
      event: { case: "text", value: { text: "token " } },
    }),
  );
}
