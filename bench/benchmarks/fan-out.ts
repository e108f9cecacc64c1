import { setTimeout } from "node:timers/promises";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import type { Benchmark, Figure } from "../figure.ts";
import { timesOf, warmUp } from "../measure.ts";
import { createAgent, run, tools } from "../runs.ts";
import { System } from "../system.ts";
import { sleepMs } from "../tools.ts";

const times = 10;
const calls = 8;

/** A turn with eight calls of a tool with a known duration. The floor is one call. */
export const fanOut: Benchmark = {
  name: "fan-out",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    const floors = await timesOf(times, () => setTimeout(sleepMs, undefined, { signal }));
    for (const concurrency of [undefined, calls]) {
      const settings: Record<string, string> =
        concurrency === undefined ? {} : { REEVE_TOOLHOST_CONCURRENCY: String(concurrency) };
      await using system = await System.start({ settings }, signal);
      const agent = {
        id: "fan",
        model: `openai:tool-fan:${calls}`,
        mcpServers: ["bench"],
        allowedTools: tools("mcp__bench__sleep"),
      };
      await createAgent(system, agent, signal);
      const values: number[] = [];
      const work = async () => values.push(roundOf((await run(system, "fan", signal)).events));
      await warmUp(times / 2, work);
      const before = system.usage();
      await timesOf(times, work);
      yield {
        name: `${calls} calls of ${sleepMs} ms in one turn, toolhost concurrency ${concurrency ?? "default"}`,
        unit: "ms",
        values: values.slice(-times),
        floors,
        cpuMs: (system.usage().cpuMs - before.cpuMs) / times,
      };
    }
  },
};

/** Returns the time from the model's turn to the last result, in milliseconds, by the runtime's clock. */
function roundOf(events: readonly RunEvent[]): number {
  const first = events.find(({ event }) => event.case === "toolCall")?.time;
  const last = events.findLast(({ event }) => event.case === "toolResult")?.time;
  if (first === undefined || last === undefined) throw new Error("the run called no tool");
  return timestampMs(last) - timestampMs(first);
}
