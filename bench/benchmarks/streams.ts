import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Benchmark, Figure } from "../figure.ts";
import { floorRun } from "../floor.ts";
import { createAgent } from "../runs.ts";
import { System } from "../system.ts";

const runs = 200;
const tokensARun = 200;
const paceMs = 20;
const repetitions = 3;
const model = `paced:${tokensARun}:${paceMs}`;
/** The lag of every tenth message is sampled. */
const sampled = 10;

/** Many concurrent streaming runs with one watcher each, from models at a realistic pace. */
export const streams: Benchmark = {
  name: "streams",
  maxMs: 180_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using system = await System.start({}, signal);
    await createAgent(system, { id: "streams", model: `openai:${model}` }, signal);
    const all = async (one: () => Promise<unknown>) => {
      const startedAt = performance.now();
      await Promise.all(Array.from({ length: runs }, one));
      return (runs * tokensARun) / ((performance.now() - startedAt) / 1_000);
    };
    const values: number[] = [];
    const floors: number[] = [];
    const lags: number[] = [];
    let cpuMs = 0;
    await all(() => watched(system, [], signal));
    for (let repetition = 0; repetition < repetitions; repetition++) {
      floors.push(await all(() => floorRun(system.modelUrl, model, signal)));
      const before = system.usage();
      values.push(await all(() => watched(system, lags, signal)));
      cpuMs += (system.usage().cpuMs - before.cpuMs) / (runs * tokensARun * repetitions);
    }
    const name = `${runs} streams with a watcher each`;
    yield { name, unit: "tokens/s", values, floors, cpuMs };
    yield {
      name: `${name}, CPU time per token`,
      unit: "ms",
      values: [cpuMs],
      aim: { median: 0.04 },
    };
    yield { name: `${name}, from an event's time to its watcher`, unit: "ms", values: lags };
  },
};

/** Starts a run and watches it to its end. Adds the ages of received events to `lags`. */
async function watched({ reeve }: System, lags: number[], signal: AbortSignal): Promise<void> {
  const { run } = await reeve.runs.startRun({ agentId: "streams", input: "go" }, { signal });
  let messages = 0;
  let tokens = 0;
  for await (const { events } of reeve.runs.watchRun({ runId: run?.runId ?? "" }, { signal })) {
    const now = Date.now();
    for (const { event } of events) {
      if (event.case === "text") tokens += event.value.text.split(" ").length - 1;
    }
    const time = events.find(({ event }) => event.case === "text")?.time;
    if (time !== undefined && messages++ % sampled === 0) lags.push(now - timestampMs(time));
  }
  if (tokens !== tokensARun) throw new Error(`a stream of ${tokensARun} tokens had ${tokens}`);
}
