import type { Benchmark, Figure } from "../figure.ts";
import { oneMore } from "../one-more.ts";
import { System } from "../system.ts";

/** The cost of one more step: a turn of the model that calls a tool of the runtime, without a toolhost. */
export const steps: Benchmark = {
  name: "steps",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using system = await System.start({}, signal);
    const growth = {
      name: "one more step with a tool of the runtime",
      kind: "tool-chain",
      tool: "memory_write",
      few: 1,
      many: 21,
      floorWork: () => Promise.resolve(),
    } as const;
    yield await oneMore(system, growth, signal);
  },
};
