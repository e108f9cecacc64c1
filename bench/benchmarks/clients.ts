import { timestampMs } from "@bufbuild/protobuf/wkt";
import { perform } from "@reeve/test/clients/support/client-process";
import type { Command, Toolchain } from "@reeve/test/clients/support/toolchains";
import {
  prepareGo,
  prepareJava,
  preparePython,
  prepareRust,
  prepareTypescript,
} from "@reeve/test/clients/support/toolchains";
import type { Benchmark, Figure } from "../figure.ts";
import { createAgent } from "../runs.ts";
import { System } from "../system.ts";

const repetitions = 5;
/** Many small events, for reading a finished run; one event every 20 ms, for the lag. */
const long = "paced:1000:1";
const live = "paced:100:20";

/** The clients of all languages as processes: the speed of reading a finished run, and the age of events when they are printed. */
export const clients: Benchmark = {
  name: "clients",
  maxMs: 900_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using typescript = await prepareTypescript();
    const languages: readonly (readonly [string, Toolchain])[] = [
      ["typescript", typescript],
      ["python", await preparePython()],
      ["go", await prepareGo()],
      ["rust", await prepareRust()],
      ["java", await prepareJava()],
    ];
    await using system = await System.start({}, signal);
    await createAgent(system, { id: "long", model: `openai:${long}` }, signal);
    await createAgent(system, { id: "live", model: `openai:${live}` }, signal);
    const runId = await startedRun(system, "long", signal);
    await eventTimes(system, runId, signal);
    let floors: readonly number[] | undefined;
    let lagFloors: readonly number[] | undefined;
    for (const [language, toolchain] of languages) {
      if (toolchain.kind === "missing") {
        console.error(`${language} is skipped: ${toolchain.reason}`);
        continue;
      }
      const { driver } = toolchain.client;
      const values: number[] = [];
      for (let repetition = 0; repetition < repetitions; repetition++) {
        const { result } = await perform(driver, ["measure", runId], addressOf(system));
        values.push(((result.count ?? 0) / (result.ms ?? 1)) * 1_000);
      }
      const name = `${language}, reading a finished run`;
      yield { name, unit: "events/s", values, ...(floors && { floors }) };
      const lags = await lagsOf(system, driver, signal);
      const seen = `${language}, from an event's time to its output`;
      yield { name: seen, unit: "ms", values: lags, ...(lagFloors && { floors: lagFloors }) };
      floors ??= values;
      lagFloors ??= lags;
    }
  },
};

/** Returns the ages of an active run's events when a client prints them. */
async function lagsOf(
  system: System,
  driver: Command,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const runId = await startedRun(system, "live", signal);
  const shown = new Map<number, number>();
  await perform(driver, ["watch", runId, "0"], addressOf(system), (sequence) =>
    shown.set(sequence, Date.now()),
  );
  const times = await eventTimes(system, runId, signal);
  // Earlier events than the client's connection have no lag.
  return [...shown]
    .map(([sequence, at]) => at - (times.get(sequence) ?? at))
    .slice(Math.floor(shown.size / 2));
}

async function startedRun(
  { reeve }: System,
  agentId: string,
  signal: AbortSignal,
): Promise<string> {
  const { run } = await reeve.runs.startRun({ agentId, input: "go" }, { signal });
  return run?.runId ?? "";
}

/** Returns the time of each event, once the run has ended. */
async function eventTimes(
  { reeve }: System,
  runId: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, number>> {
  const times = new Map<number, number>();
  for await (const { events } of reeve.runs.watchRun({ runId }, { signal })) {
    for (const { sequence, time } of events) {
      if (time !== undefined) times.set(sequence, timestampMs(time));
    }
  }
  return times;
}

function addressOf({ url, token }: System) {
  return { url, token, requestMs: 60_000, reconnectTimeoutMs: 60_000 };
}
