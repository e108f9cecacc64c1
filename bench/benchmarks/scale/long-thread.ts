import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { Cluster } from "../../cluster.ts";
import type { Benchmark, Figure } from "../../figure.ts";
import { createAgent } from "../../runs.ts";

const turns = Number(process.env["REEVE_BENCH_TURNS"] ?? "1000");
const compared = 40;
const input = "q".repeat(200_000);
const sampleMs = 250;
const mib = 2 ** 20;

/** Starts in threads with messages of 200 kB: the first turns of 40 threads, and 40 turns of a thread that has 1,000. */
export const longThread: Benchmark = {
  name: "long-thread",
  maxMs: 1_200_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using cluster = await Cluster.start(1, signal);
    await createAgent(cluster, { id: "talks", model: "openai:text:20" }, signal);
    const end = new AbortController();
    const peaks = new Map<string, number>();
    const sampling = samplePeaks(cluster, peaks, AbortSignal.any([signal, end.signal]));
    const first: number[] = [];
    for (let count = 0; count < compared; count++) {
      first.push(await takeTurn(cluster, `short-${count}`, signal));
    }
    yield { name: "StartRun, first turn of a thread", unit: "ms", values: first };
    yield* peaksOf(peaks, `after ${compared} first turns`);
    const long: number[] = [];
    for (let count = 0; count < turns + compared; count++) {
      long.push(await takeTurn(cluster, "long", signal));
    }
    const values = long.slice(-compared);
    yield { name: `StartRun, after ${turns} turns of 200 kB`, unit: "ms", values };
    yield* peaksOf(peaks, `after ${turns} turns of 200 kB`);
    end.abort();
    await sampling;
    for (const [name, bytes] of await cluster.keptBytes(signal)) {
      yield { name: `${serviceOf(name)}, retained`, unit: "MiB", values: [bytes / mib] };
    }
  },
};

/** Returns the duration of StartRun. The run has ended when this resolves. */
async function takeTurn(
  { reeve }: Cluster,
  threadId: string,
  signal: AbortSignal,
): Promise<number> {
  const startedAt = performance.now();
  const { run } = await reeve.runs.startRun({ agentId: "talks", input, threadId }, { signal });
  const tookMs = performance.now() - startedAt;
  const events = reeve.runs.watchRun({ runId: run?.runId ?? "" }, { signal });
  for await (const { events: seen } of events) {
    if (seen.some(({ event }) => event.case === "error")) throw new Error("a turn failed");
  }
  return tookMs;
}

async function samplePeaks(
  cluster: Cluster,
  peaks: Map<string, number>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const [name, { ownRssBytes }] of cluster.usage()) {
      peaks.set(name, Math.max(peaks.get(name) ?? 0, ownRssBytes));
    }
    await setTimeout(sampleMs, undefined, { signal }).catch(() => undefined);
  }
}

function* peaksOf(peaks: ReadonlyMap<string, number>, when: string): Iterable<Figure> {
  for (const [name, bytes] of peaks) {
    yield { name: `${serviceOf(name)}, peak ${when}`, unit: "MiB", values: [bytes / mib] };
  }
}

function serviceOf(name: string): string {
  return name.startsWith("runtime") ? "runtime" : name;
}
