import type { Benchmark, Figure } from "../figure.ts";
import { rateOf } from "../measure.ts";
import { createAgent, tools, waits } from "../runs.ts";
import { System } from "../system.ts";

const waiting = 1_000;

/** What a run costs that waits for a person. */
export const waitingRuns: Benchmark = {
  name: "waiting",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using system = await System.start({}, signal);
    const tool = "mcp__srv__search";
    await createAgent(
      system,
      {
        id: "waits",
        model: "openai:tool-once",
        mcpServers: ["srv"],
        allowedTools: tools(tool),
        hitlTools: [tool],
      },
      signal,
    );
    const work = () => waits(system, "waits", signal);
    await rateOf(waiting / 4, 50, work);
    const before = system.usage();
    await rateOf(waiting, 50, work);
    const after = system.usage();
    yield {
      name: `memory of each of ${waiting} waiting runs`,
      unit: "KiB",
      values: [(after.rssBytes - before.rssBytes) / waiting / 1024],
      cpuMs: (after.cpuMs - before.cpuMs) / waiting,
    };
  },
};
