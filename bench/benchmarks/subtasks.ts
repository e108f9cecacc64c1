import type { Benchmark, Figure } from "../figure.ts";
import { floorRun } from "../floor.ts";
import { oneMore } from "../one-more.ts";
import { System } from "../system.ts";

/** What one more subtask costs whose model answers at once: in a turn of its own, and beside six others in one turn. */
export const subtasks: Benchmark = {
  name: "subtasks",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using system = await System.start({}, signal);
    const common = {
      tool: "run_subtask",
      few: 1,
      // By hand a subtask is a call of a model whose answer is the result.
      floorWork: () => floorRun(system.modelUrl, "text:20", signal),
    };
    yield await oneMore(
      system,
      { ...common, name: "one more subtask, serial", kind: "tool-chain", many: 8 },
      signal,
    );
    yield await oneMore(
      system,
      { ...common, name: "one more subtask of 7 in parallel", kind: "tool-fan", many: 7 },
      signal,
    );
  },
};
