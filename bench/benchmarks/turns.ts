import type { Benchmark, Figure } from "../figure.ts";
import { floorRun } from "../floor.ts";
import { timesOf, warmUp } from "../measure.ts";
import { createAgent, run, tools } from "../runs.ts";
import { System } from "../system.ts";

const times = 40;
const models = ["text:20", "tool-once", "tool-chain:10"];

/** Whole runs, one at a time: a turn, a round with an MCP tool, and ten such rounds. */
export const turns: Benchmark = {
  name: "turns",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using system = await System.start({}, signal);
    for (const model of models) {
      const id = model.replace(":", "-");
      const allowedTools = tools(...(model.startsWith("tool") ? ["mcp__srv__search"] : []));
      const spec = { id, model: `openai:${model}`, mcpServers: ["srv"], allowedTools };
      await createAgent(system, spec, signal);
      const first: number[] = [];
      const work = async () => first.push((await run(system, id, signal)).firstTextMs);
      const floorFirst: number[] = [];
      const floor = async () =>
        floorFirst.push((await floorRun(system.modelUrl, model, signal)).firstTokenMs);
      await warmUp(times / 2, work);
      await warmUp(times / 2, floor);
      const before = system.usage();
      const values = await timesOf(times, work);
      const cpuMs = (system.usage().cpuMs - before.cpuMs) / times;
      const floors = await timesOf(times, floor);
      yield { name: `${model}, one at a time`, unit: "ms", values, floors, cpuMs };
      if (model !== "text:20") continue;
      yield {
        name: `first token of ${model}`,
        unit: "ms",
        values: first.slice(-times),
        floors: floorFirst.slice(-times),
      };
    }
  },
};
