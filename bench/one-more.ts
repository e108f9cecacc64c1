import type { Figure } from "./figure.ts";
import { floorRun } from "./floor.ts";
import { timesOf, warmUp } from "./measure.ts";
import { createAgent, run, tools } from "./runs.ts";
import type { System } from "./system.ts";

const times = 12;
/** Runs of the hand-written loop are fast and their difference is small, so more of them are measured. */
const floorTimes = 80;

/** A run that more calls of one tool make longer. */
export interface Growth {
  readonly name: string;
  /** `tool-chain`: one call per turn; `tool-fan`: all calls in one turn. */
  readonly kind: "tool-chain" | "tool-fan";
  readonly tool: string;
  readonly few: number;
  readonly many: number;
  /** The work of a call in the hand-written loop. */
  readonly floorWork: () => Promise<unknown>;
}

/** Measures the cost of one more call: the additional time of runs with many calls over the fastest with few, per call. */
export async function oneMore(
  system: System,
  { name, kind, tool, few, many, floorWork }: Growth,
  signal: AbortSignal,
): Promise<Figure> {
  const idOf = (count: number) => `${kind}-${count}`;
  for (const count of [few, many]) {
    const model = `openai:${kind}:${count}`;
    await createAgent(system, { id: idOf(count), model, allowedTools: tools(tool) }, signal);
  }
  const series = async (count: number) => {
    const work = () => run(system, idOf(count), signal);
    await warmUp(times / 2, work);
    const before = system.usage();
    const durations = await timesOf(times, work);
    return { durations, cpuMs: (system.usage().cpuMs - before.cpuMs) / times };
  };
  const floor = async (count: number) => {
    const work = () => floorRun(system.modelUrl, `${kind}:${count}`, signal, floorWork);
    await warmUp(floorTimes / 2, work);
    return await timesOf(floorTimes, work);
  };
  const each = (short: readonly number[], long: readonly number[]) =>
    long.map((duration) => (duration - Math.min(...short)) / (many - few));
  const long = await series(many);
  const short = await series(few);
  const floorLong = await floor(many);
  const floorShort = await floor(few);
  return {
    name,
    unit: "ms",
    values: each(short.durations, long.durations),
    floors: each(floorShort, floorLong),
    cpuMs: (long.cpuMs - short.cpuMs) / (many - few),
  };
}
