import process from "node:process";
import { Cluster } from "../../cluster.ts";
import type { Decided } from "../../decisions.ts";
import { decide } from "../../decisions.ts";
import type { Benchmark, Figure } from "../../figure.ts";
import { listFigures } from "../../inbox/list-figures.ts";
import { parkRuns } from "../../inbox/parked-runs.ts";
import { rebuildFigure } from "../../inbox/rebuild-figure.ts";
import { ruleFigures } from "../../inbox/rule-figures.ts";
import { watchFigures } from "../../inbox/watch-figures.ts";
import { timesOf } from "../../measure.ts";
import { memoryNow } from "../../memory-of.ts";
import { createAgent, tools, waits } from "../../runs.ts";

const most = Number(process.env["REEVE_BENCH_APPROVALS"] ?? 100_000);
const sizes = [Math.ceil(most / 10), most];
const requests = 50;
const decisions = 40;

/** The inbox of one tenant, with many pending approvals and with a tenth of them, its rebuild, and calls under many permission rules. */
export const inbox: Benchmark = {
  name: "inbox",
  maxMs: 1_800_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using cluster = await Cluster.start(1, signal);
    yield* ruleFigures(cluster, signal);
    let parked = 0;
    for (const size of sizes) {
      // These are decided, so their runs are real ones.
      const agentId = `asks-${size}`;
      await createAskingAgent(cluster, agentId, signal);
      await waits(cluster, agentId, decisions, signal);
      const count = size - decisions - parked;
      await parkRuns(cluster, { from: parked, count }, signal);
      parked += count;
      await cluster.longestBlockMs("approvals", signal);
      yield* listFigures(cluster, size, signal);
      const news = { from: parked, count: requests };
      yield* watchFigures(cluster, { requests: news, pending: size }, signal);
      parked += requests;
      yield* decisionFigures(cluster, { agentId, pending: size }, signal);
      const values = [await cluster.longestBlockMs("approvals", signal)];
      const name = `approvals, longest turn of its event loop, ${size} pending`;
      yield { name, unit: "ms", values, aim: { median: 50 } };
      yield* memoryNow(cluster, `${size} pending`, signal);
    }
    yield await rebuildFigure(cluster, signal);
  },
};

async function createAskingAgent(cluster: Cluster, id: string, signal: AbortSignal) {
  const tool = "mcp__srv__search";
  const spec = { model: "openai:tool-once", mcpServers: ["srv"], allowedTools: tools(tool) };
  await createAgent(cluster, { ...spec, id, hitlTools: [tool] }, signal);
}

/** Decides the approvals of an agent. The floor is one approval over the same connection. */
async function* decisionFigures(
  { reeve }: Cluster,
  { agentId, pending }: { readonly agentId: string; readonly pending: number },
  signal: AbortSignal,
): AsyncIterable<Figure> {
  const unit = "ms";
  const { approvals } = await reeve.approvals.listApprovals({ filter: { agentId } }, { signal });
  if (approvals.length !== decisions)
    throw new Error(`${approvals.length} runs of ${agentId} wait`);
  const floors: number[] = [];
  const decided: Decided[] = [];
  for (const approval of approvals) {
    const { approvalId } = approval;
    const get = () => reeve.approvals.getApproval({ approvalId }, { signal });
    floors.push(...(await timesOf(1, get)));
    decided.push(await decide(reeve, approval, signal));
  }
  const acknowledged = decided.map(({ acknowledgedMs }) => acknowledgedMs);
  yield { name: `a decision, ${pending} pending`, unit, values: acknowledged, floors };
  const values = decided.map(({ resumedMs }) => resumedMs);
  const name = `from a decision to the run's next claim, ${pending} pending`;
  yield { name, unit, values, floors, aim: { median: 10 } };
}
