import type { Benchmark, Figure } from "../figure.ts";
import { floorRun } from "../floor.ts";
import { oneMore } from "../one-more.ts";
import { System } from "../system.ts";

/** The cost of one more subtask whose model answers immediately: in its own turn, and in parallel with six others in one turn. */
export const subtasks: Benchmark = {
  name: "subtasks",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using system = await System.start({}, signal);
    const common = {
      tool: "run_subtask",
      few: 1,
      // In the hand-written loop, a subtask is a model call whose answer is the result.
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
