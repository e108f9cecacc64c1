import type { Figure } from "./figure.ts";
import { floorRun } from "./floor.ts";
import { timesOf, warmUp } from "./measure.ts";
import { createAgent, run, tools } from "./runs.ts";
import type { System } from "./system.ts";

const times = 12;
/** The loop by hand is quick, and the difference of two of its runs small: it takes more of them to see it. */
const floorTimes = 80;

/** A run that can be made longer by calls of one tool. */
export interface Growth {
  readonly name: string;
  /** `tool-chain`: one call a turn; `tool-fan`: all of them in one turn. */
  readonly kind: "tool-chain" | "tool-fan";
  readonly tool: string;
  readonly few: number;
  readonly many: number;
  /** What a call does in the loop by hand. */
  readonly floorWork: () => Promise<unknown>;
}

/** What one more call costs: by how much runs with many calls take longer than the best of those with few, for each call. */
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
