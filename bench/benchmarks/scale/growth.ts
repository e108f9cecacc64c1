import process from "node:process";
import type { Benchmark, Figure } from "../../figure.ts";
import { rateOf } from "../../measure.ts";
import { createAgent, run } from "../../runs.ts";
import { System } from "../../system.ts";

const runs = Number(process.env["REEVE_BENCH_RUNS"] ?? "20000");
const parts = 10;
const concurrency = 20;

/** What a Reeve process retains after garbage collection while it completes many runs: a leak makes the figure grow to the end. */
export const growth: Benchmark = {
  name: "growth",
  maxMs: 60 * 60_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using system = await System.start({}, signal);
    await createAgent(system, { id: "text", model: "openai:text:20" }, signal);
    const work = () => run(system, "text", signal);
    // The memory of a new process grows with its first work.
    await rateOf(runs / parts, concurrency, work);
    for (let part = 1; part <= parts; part++) {
      const retained = (await system.keptBytes(signal)) / 1024 / 1024;
      const resident = system.usage().rssBytes / 1024 / 1024;
      const done = (part * runs) / parts;
      yield { name: `after ${done} runs, retained by Reeve`, unit: "MiB", values: [retained] };
      yield { name: "the same, resident, NATS included", unit: "MiB", values: [resident] };
      if (part < parts) await rateOf(runs / parts, concurrency, work);
    }
  },
};
