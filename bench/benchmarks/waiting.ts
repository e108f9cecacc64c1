import type { Benchmark, Figure } from "../figure.ts";
import { rateOf } from "../measure.ts";
import { createAgent, run, tools, waits } from "../runs.ts";
import { System } from "../system.ts";

const waiting = 500;
const repetitions = 3;

/** What a run keeps of the memory of all processes that waits for a person. */
export const waitingRuns: Benchmark = {
  name: "waiting",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using system = await System.start({}, signal);
    const tool = "mcp__srv__search";
    const agent = { model: "openai:tool-once", mcpServers: ["srv"], allowedTools: tools(tool) };
    await createAgent(system, { ...agent, id: "once" }, signal);
    // A process that has just started grows by whatever it does.
    await rateOf(waiting, 50, () => run(system, "once", signal));
    const values: number[] = [];
    for (let repetition = 0; repetition < repetitions; repetition++) {
      const id = `waits-${repetition}`;
      await createAgent(system, { ...agent, id, hitlTools: [tool] }, signal);
      const before = system.usage();
      await waits(system, id, waiting, signal);
      const after = system.usage();
      values.push((after.rssBytes - before.rssBytes) / waiting / 1024);
    }
    yield { name: `memory of each of ${waiting} waiting runs`, unit: "KiB", values };
  },
};
