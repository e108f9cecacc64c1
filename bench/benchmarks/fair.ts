import type { Connection } from "@reeve/client";
import { RunStatus } from "@reeve/contracts/run";
import { Cluster } from "../cluster.ts";
import type { Benchmark, Figure } from "../figure.ts";
import { floorRun } from "../floor.ts";
import { rateOf } from "../measure.ts";
import { createAgent, run } from "../runs.ts";

/** The queued runs of the large tenant, fewer if they cannot be started in time, and the runs of the small one. */
const maxQueued = 2_000;
const maxStartMs = 40_000;
const runs = 20;
/** A run takes half a second, so that slots are scarce and not processors: a slot becomes free every 50 ms. */
const model = "paced:10:50";
const slots = 10;
const warmUps = 5;
const large = "large";
const small = "small";

/**
 * Two tenants, of which one has a hundred times the load of the other: from the start of a run of the small tenant to its first
 * text, alone, and while the runs of the large one are queued.
 */
export const fair: Benchmark = {
  name: "fair",
  maxMs: 120_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    const settings = { REEVE_RUNTIME_CONCURRENCY: String(slots) };
    await using cluster = await Cluster.start(1, signal, { settings, tenants: [large, small] });
    const reeve = cluster.as(small);
    const many = cluster.as(large);
    for (const each of [reeve, many]) {
      await createAgent({ reeve: each }, { id: "fair", model: `openai:${model}` }, signal);
    }
    await inTurn(reeve, warmUps, signal);
    const floors: number[] = [];
    for (let turn = 0; turn < runs; turn++) {
      floors.push((await floorRun(cluster.modelUrl, model, signal)).firstTokenMs);
    }
    const name = `a run of a small tenant, to its first text`;
    yield { name: `${name}, alone`, unit: "ms", values: await inTurn(reeve, runs, signal), floors };
    const startedAt = performance.now();
    const queued: string[] = [];
    await rateOf(maxQueued, 50, async () => {
      if (performance.now() - startedAt > maxStartMs) return;
      const started = await many.runs.startRun({ agentId: "fair", input: "go" }, { signal });
      queued.push(started.run?.runId ?? "");
    });
    const values = await inTurn(reeve, runs, signal);
    const { run: unserved } = await many.runs.getRun({ runId: queued.at(-1) ?? "" }, { signal });
    if (unserved?.status !== RunStatus.QUEUED) {
      throw new Error("the runs of the large tenant had ended before those of the small one");
    }
    yield {
      name: `${name}, beside ${queued.length} queued runs of another`,
      unit: "ms",
      values,
      floors,
    };
  },
};

/** Returns the times to the first text of runs that are started one after another. */
async function inTurn(
  reeve: Connection,
  count: number,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < count; turn++) {
    times.push((await run({ reeve }, "fair", signal)).firstTextMs);
  }
  return times;
}
