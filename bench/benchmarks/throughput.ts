import type { Benchmark, Figure } from "../figure.ts";
import { floorRun } from "../floor.ts";
import { rateOf } from "../measure.ts";
import { createAgent, run, tools } from "../runs.ts";
import { System } from "../system.ts";

const repetitions = 3;
const tokensARun = 200;
const textModel = `text:${tokensARun}`;
const loads = [
  { model: "tool-once", concurrency: 50, total: 150 },
  { model: "tool-once", concurrency: 200, total: 200 },
  { model: textModel, concurrency: 50, total: 100 },
] as const;

/** Many concurrent runs that saturate the CPUs. */
export const throughput: Benchmark = {
  name: "throughput",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using system = await System.start({}, signal);
    for (const model of ["tool-once", textModel]) {
      const allowedTools = tools(...(model === "tool-once" ? ["mcp__srv__search"] : []));
      const id = model.replace(":", "-");
      const spec = { id, model: `openai:${model}`, mcpServers: ["srv"], allowedTools };
      await createAgent(system, spec, signal);
    }
    for (const { model, concurrency, total } of loads) {
      const work = () => run(system, model.replace(":", "-"), signal);
      const floor = () => floorRun(system.modelUrl, model, signal);
      const rates = { values: [] as number[], floors: [] as number[] };
      await rateOf(total, concurrency, work);
      let cpuMs = 0;
      for (let repetition = 0; repetition < repetitions; repetition++) {
        rates.floors.push(await rateOf(total, concurrency, floor));
        const before = system.usage();
        rates.values.push(await rateOf(total, concurrency, work));
        cpuMs += (system.usage().cpuMs - before.cpuMs) / total / repetitions;
      }
      yield { name: `${model}, ${concurrency} concurrent`, unit: "runs/s", ...rates, cpuMs };
      if (model !== textModel) continue;
      yield {
        name: "the same in tokens",
        unit: "tokens/s",
        values: rates.values.map(tokensOf),
        floors: rates.floors.map(tokensOf),
        cpuMs: cpuMs / tokensARun,
      };
    }
  },
};

function tokensOf(runs: number): number {
  return runs * tokensARun;
}
