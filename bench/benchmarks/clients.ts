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
/** Many small events, to read again; and one every 20 ms, to see as they come. */
const long = "paced:1000:1";
const live = "paced:100:20";

/** The clients of all languages, each a process: how fast they read a run again, and how old events are when they show them. */
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
        console.error(`${language} is left out: ${toolchain.reason}`);
        continue;
      }
      const { driver } = toolchain.client;
      const values: number[] = [];
      for (let repetition = 0; repetition < repetitions; repetition++) {
        const { result } = await perform(driver, ["measure", runId], addressOf(system));
        values.push(((result.count ?? 0) / (result.ms ?? 1)) * 1_000);
      }
      const name = `${language}, reading a run again`;
      yield { name, unit: "events/s", values, ...(floors && { floors }) };
      const lags = await lagsOf(system, driver, signal);
      const seen = `${language}, from an event's time to its line on stdout`;
      yield { name: seen, unit: "ms", values: lags, ...(lagFloors && { floors: lagFloors }) };
      floors ??= values;
      lagFloors ??= lags;
    }
  },
};

/** How old the events of a run that is under way are when a client shows them. */
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
  // What came before the client was connected is no lag.
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

/** When each event of a run happened, once the run has ended. */
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
  return { url, token, requestMs: 60_000, patienceMs: 60_000 };
}
