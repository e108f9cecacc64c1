import { setTimeout } from "node:timers/promises";
import type { Approval } from "@reeve/contracts/approval";
import type { ServiceName } from "../cluster.ts";
import { Cluster } from "../cluster.ts";
import type { Decided } from "../decisions.ts";
import { decide, pending } from "../decisions.ts";
import type { Benchmark, Figure } from "../figure.ts";
import { rateOf, timesOf } from "../measure.ts";
import { memoryOf } from "../memory-of.ts";
import { createAgent, run, tools, waits } from "../runs.ts";

const few = 100;
const many = 10_000;
const decisions = 60;
const listings = 10;
/** A pause before memory is measured: the store caches recent writes for some seconds. */
const restMs = 15_000;

/** The memory of runs that wait for an approval, and the time to resume one after a decision, with few and with many waiting runs. */
export const resume: Benchmark = {
  name: "resume",
  maxMs: 360_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using cluster = await Cluster.start(1, signal);
    const tool = "mcp__srv__search";
    const agent = { model: "openai:tool-once", mcpServers: ["srv"], allowedTools: tools(tool) };
    await createAgent(cluster, { ...agent, id: "once" }, signal);
    const hitlTools = [tool];
    await createAgent(cluster, { ...agent, hitlTools, id: "few" }, signal);
    await createAgent(cluster, { ...agent, hitlTools, id: "many" }, signal);
    await waits(cluster, "few", few, signal);
    yield* restarts(cluster, few, signal);
    // The memory of a new process grows with its first work.
    await rateOf(1_000, 50, () => run(cluster, "once", signal));
    yield* figuresWith(cluster, few, signal);
    const before = { kept: await cluster.keptBytes(signal), usage: cluster.usage() };
    await waits(cluster, "many", many - few, signal);
    await setTimeout(restMs, undefined, { signal });
    yield* memoryOf(cluster, before, many - few, signal);
    yield* figuresWith(cluster, many, signal);
    yield* restarts(cluster, many, signal);
  },
};

async function* figuresWith(
  cluster: Cluster,
  waiting: number,
  signal: AbortSignal,
): AsyncIterable<Figure> {
  const { reeve } = cluster;
  const unit = "ms";
  const name = (what: string) => `${what}, ${waiting} waiting`;
  const approvals = await pending(reeve, decisions, signal);
  const floors: number[] = [];
  const decided: Decided[] = [];
  for (const approval of approvals) {
    const { approvalId } = approval;
    floors.push(
      ...(await timesOf(1, () => reeve.approvals.getApproval({ approvalId }, { signal }))),
    );
    decided.push(await decide(reeve, approval, signal));
  }
  const resumed = decided.map(({ resumedMs }) => resumedMs);
  const acknowledged = decided.map(({ acknowledgedMs }) => acknowledgedMs);
  yield {
    name: name("from a decision to the run's next claim"),
    unit,
    values: resumed,
    floors,
    aim: { median: 10 },
  };
  yield { name: name("a decision"), unit, values: acknowledged, floors };
  const page = { pageSize: 100 };
  const approvalsListed = await timesOf(listings, () =>
    reeve.approvals.listApprovals(page, { signal }),
  );
  yield { name: name("100 approvals listed"), unit, values: approvalsListed, floors };
  const runsListed = await timesOf(listings, () => reeve.runs.listRuns(page, { signal }));
  yield { name: name("100 runs listed"), unit, values: runsListed, floors };
}

/** Returns the time until each service answers again after it was killed. */
async function* restarts(
  cluster: Cluster,
  waiting: number,
  signal: AbortSignal,
): AsyncIterable<Figure> {
  for (const service of ["gateway", "approvals", "runtime"] as const) {
    const [spare] = await pending(cluster.reeve, 1, signal);
    const values = await timesOf(1, () => restart(cluster, service, spare, signal));
    yield {
      name: `${service} killed, until it answers again, ${waiting} waiting`,
      unit: "ms",
      values,
    };
  }
}

/** Kills a service, restarts it, and uses its function. */
async function restart(
  cluster: Cluster,
  service: ServiceName,
  spare: Approval | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { reeve } = cluster;
  await cluster.restart(service, signal);
  if (service === "gateway") await reeve.runs.listRuns({ pageSize: 1 }, { signal });
  else if (service === "approvals")
    await reeve.approvals.listApprovals({ pageSize: 1 }, { signal });
  else if (spare !== undefined) await decide(reeve, spare, signal);
}
