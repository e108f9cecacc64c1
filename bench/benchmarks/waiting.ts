import type { Benchmark, Figure } from "../figure.ts";
import { rateOf } from "../measure.ts";
import { createAgent, run, tools, waits } from "../runs.ts";
import { System } from "../system.ts";

const waiting = 500;
const repetitions = 3;

/** The memory that a waiting run occupies in all processes. */
export const waitingRuns: Benchmark = {
  name: "waiting",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using system = await System.start({}, signal);
    const tool = "mcp__srv__search";
    const agent = { model: "openai:tool-once", mcpServers: ["srv"], allowedTools: tools(tool) };
    await createAgent(system, { ...agent, id: "once" }, signal);
    // The memory of a new process grows with its first work.
    await rateOf(waiting, 50, () => run(system, "once", signal));
    const kept: number[] = [];
    const resident: number[] = [];
    for (let repetition = 0; repetition < repetitions; repetition++) {
      const id = `waits-${repetition}`;
      await createAgent(system, { ...agent, id, hitlTools: [tool] }, signal);
      const keptBefore = await system.keptBytes(signal);
      const { rssBytes: residentBefore } = system.usage();
      await waits(system, id, waiting, signal);
      kept.push(((await system.keptBytes(signal)) - keptBefore) / waiting / 1024);
      resident.push((system.usage().rssBytes - residentBefore) / waiting / 1024);
    }
    yield {
      name: "a waiting run, retained by Reeve after garbage collection",
      unit: "KiB",
      values: kept,
    };
    yield { name: "a waiting run, resident, NATS included", unit: "KiB", values: resident };
  },
};
