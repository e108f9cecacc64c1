import type { Benchmark, Figure } from "../figure.ts";
import { barePython } from "../floor.ts";
import { timesOf, warmUp } from "../measure.ts";
import { createAgent, run } from "../runs.ts";
import { System } from "../system.ts";

const times = 30;

/** A call of a sandboxed tool, against the start of the interpreter alone. */
export const sandbox: Benchmark = {
  name: "sandbox",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using system = await System.start({}, signal);
    const spec = { id: "sandbox", model: "scripted:sandbox", permissionClasses: ["execute"] };
    await createAgent(system, spec, signal);
    const values: number[] = [];
    const work = async () => {
      const { events } = await run(system, "sandbox", signal);
      const result = events.find(({ event }) => event.case === "toolResult");
      if (result?.event.case === "toolResult") values.push(result.event.value.durationMs);
    };
    await warmUp(3, barePython);
    const floors = await timesOf(times, barePython);
    await warmUp(times + 3, work);
    yield {
      name: "a call of execute_code, from queue to result",
      unit: "ms",
      values: values.slice(3),
      floors,
    };
  },
};
