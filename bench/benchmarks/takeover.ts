import { Cluster } from "../cluster.ts";
import type { Benchmark, Figure } from "../figure.ts";
import type { Taken } from "../takeovers.ts";
import { redeliveries } from "../takeovers.ts";
import { createTakeoverAgents, killOnce } from "../kill-worker.ts";

const kills = 24;
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
    await createTakeoverAgents(cluster, signal);
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
