import type { Cluster } from "./cluster.ts";
import { createAgent, tools } from "./runs.ts";
import type { Taken } from "./takeovers.ts";
import { Watched } from "./takeovers.ts";

/** The number of runs of each kind, for each kill. */
const runsPerKind = 2;

/** Creates the agents of `killOnce`: `streams` streams for 20 s, and `calls` calls a tool that takes 2 s. */
export async function createTakeoverAgents(
  cluster: Pick<Cluster, "reeve">,
  signal: AbortSignal,
): Promise<void> {
  await createAgent(cluster, { id: "streams", model: "openai:paced:1000:20" }, signal);
  const calls = { mcpServers: ["bench"], allowedTools: tools("mcp__bench__rest") };
  await createAgent(cluster, { ...calls, id: "calls", model: "openai:tool-once" }, signal);
}

/**
 * Kills the worker of one of several runs of the agents `kinds`, and measures how each of its runs continues. On a busy machine, a
 * tool call may have ended before the kill; its run is left out.
 */
export async function killOnce(
  cluster: Cluster,
  signal: AbortSignal,
  kinds: readonly string[] = ["streams", "calls"],
): Promise<readonly Taken[]> {
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  const agents = Array.from({ length: runsPerKind }, () => kinds).flat();
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
