import { Cluster } from "../cluster.ts";
import type { Benchmark, Figure } from "../figure.ts";
import { createAgent, tools } from "../runs.ts";
import type { Taken } from "../takeovers.ts";
import { redeliveries, Watched } from "../takeovers.ts";

const kills = 24;
/** The number of runs of each kind, for each kill. */
const runsPerKind = 2;
const aim = { median: 1_000, p95: 1_500 };

/**
 * The time without events for a run whose worker is killed, as a watching client sees it: during a model stream, and during a
 * tool call. Another worker is running, as in every deployment with high availability.
 */
export const takeover: Benchmark = {
  name: "takeover",
  maxMs: 900_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using cluster = await Cluster.start(2, signal);
    await createAgent(cluster, { id: "streams", model: "openai:paced:1000:20" }, signal);
    const calls = { mcpServers: ["bench"], allowedTools: tools("mcp__bench__rest") };
    await createAgent(cluster, { ...calls, id: "calls", model: "openai:tool-once" }, signal);
    const floors = await redeliveries(cluster.natsUrl, signal);
    const taken: Taken[] = [];
    for (let kill = 0; kill < kills; kill++) taken.push(...(await killOnce(cluster, signal)));
    for (const [agentId, where] of [
      ["streams", "during a model stream"],
      ["calls", "during a tool call"],
    ] as const) {
      const values = taken.filter((each) => each.agentId === agentId);
      const next = values.map(({ nextEventMs }) => nextEventMs);
      yield {
        name: `worker killed ${where}, to the next event`,
        unit: "ms",
        values: next,
        floors,
        aim,
      };
      const on = values.map(({ goesOnMs }) => goesOnMs);
      const what = agentId === "streams" ? "next token" : "tool result";
      yield { name: `worker killed ${where}, to the ${what}`, unit: "ms", values: on };
    }
  },
};

/**
 * Kills the worker of one of several runs, and measures how each of its runs continues. On a busy machine, a tool call may have
 * ended before the kill; its run is left out.
 */
async function killOnce(cluster: Cluster, signal: AbortSignal): Promise<readonly Taken[]> {
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  const agents = Array.from({ length: runsPerKind }, () => ["streams", "calls"]).flat();
  const runs = await Promise.all(
    agents.map((agentId) => Watched.start(cluster.reeve, agentId, until)),
  );
  const workers = (await Promise.allSettled(runs.map((run) => run.owner))).map((owner) =>
    owner.status === "fulfilled" ? owner.value : undefined,
  );
  signal.throwIfAborted();
  const known = workers.filter((worker) => worker !== undefined);
  const victim = known[Math.floor(Math.random() * known.length)] ?? "";
  const killedAt = performance.now();
  await cluster.kill(victim);
  const owned = runs.filter((_, index) => workers[index] === victim);
  const [taken] = await Promise.all([
    Promise.allSettled(owned.map((run) => run.takenAfter(killedAt))),
    cluster.startService("runtime", signal),
  ]);
  end.abort();
  const left = runs.map(({ runId }) => cluster.reeve.runs.cancelRun({ runId }, { signal }));
  await Promise.allSettled(left);
  return taken.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
}
