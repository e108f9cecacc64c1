import type { Benchmark, Figure } from "../figure.ts";
import { median, rateOf, timesOf, warmUp } from "../measure.ts";
import { installPeers } from "./install-peers.ts";
import type { Peer } from "./peer.ts";
import { reeveAsPeer, startPeers } from "./peer.ts";
import { createAgent, tools } from "../runs.ts";
import { System } from "../system.ts";

/** All systems take turns, so that what the machine does meanwhile hits them alike. */
const rounds = 5;
const warmUps = 60;
const runsOfRound = 20;
const alone = ["text:20", "tool-once", "tool-chain:10"] as const;
const tokensARun = 200;
const textModel = `text:${tokensARun}`;
const loads = [
  { model: "tool-once", concurrency: 50, total: 300 },
  { model: "tool-once", concurrency: 200, total: 400 },
  { model: textModel, concurrency: 50, total: 150 },
  { model: textModel, concurrency: 200, total: 200 },
] as const;

/**
 * Reeve beside other ways to run the same agent: a server with the loop by hand, AI SDK and OpenAI Agents in memory, and the loop
 * by hand as a durable function of Restate. All are warm; each value is of one round.
 */
export const peers: Benchmark = {
  name: "peers",
  maxMs: 1_200_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    const folder = installPeers();
    await using resources = new AsyncDisposableStack();
    const system = resources.use(await System.start({}, signal));
    for (const model of [...alone, textModel]) {
      const allowedTools = tools(...(model.startsWith("tool") ? ["mcp__srv__search"] : []));
      const spec = { id: agentOf(model), model: `openai:${model}`, mcpServers: ["srv"] };
      await createAgent(system, { ...spec, allowedTools }, signal);
    }
    const others = await startPeers(folder, system.modelUrl, resources, signal);
    const all = [...others, reeveAsPeer(system, agentOf)];
    for (const model of alone) {
      for (const peer of all) await warmUp(warmUps, () => peer.run(model, signal));
      yield* inTurn(all, `${model}, one at a time`, "ms", async (peer) =>
        median(await timesOf(runsOfRound, () => peer.run(model, signal))),
      );
    }
    for (const { model, concurrency, total } of loads) {
      const perRun = model === textModel ? tokensARun : 1;
      const unit = model === textModel ? "tokens/s" : "runs/s";
      const work = async (peer: Peer) =>
        perRun * (await rateOf(total, concurrency, () => peer.run(model, signal)));
      for (const peer of all) await work(peer);
      yield* inTurn(all, `${model}, ${concurrency} concurrent`, unit, work, total);
    }
  },
};

/** Returns the id of the agent that has a model. */
function agentOf(model: string): string {
  return model.replace(":", "-");
}

/** Yields a figure for each peer, with a value for each round. `runs`: of a round, if their processor time is of interest. */
async function* inTurn(
  all: readonly Peer[],
  name: string,
  unit: string,
  measure: (peer: Peer) => Promise<number>,
  runs?: number,
): AsyncIterable<Figure> {
  const measured = all.map((peer) => ({ peer, values: [] as number[], cpuMs: 0 }));
  for (let round = 0; round < rounds; round++) {
    for (const each of measured) {
      const before = each.peer.cpuMs();
      each.values.push(await measure(each.peer));
      each.cpuMs += (each.peer.cpuMs() - before) / rounds;
    }
  }
  for (const { peer, values, cpuMs } of measured) {
    const figure = { name: `${peer.name}: ${name}`, unit, values };
    yield runs === undefined ? figure : { ...figure, cpuMs: cpuMs / runs };
  }
}
