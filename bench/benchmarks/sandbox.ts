import process from "node:process";
import type { Benchmark, Figure } from "../figure.ts";
import { barePython } from "../floor.ts";
import { timesOf, warmUp } from "../measure.ts";
import { createAgent, run } from "../runs.ts";
import { System } from "../system.ts";

const times = 30;
const longRuns = 3;

/** A call of a sandboxed tool. The floor is the start of the interpreter. */
export const sandbox: Benchmark = {
  name: "sandbox",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    yield* figuresOf("bubblewrap", { REEVE_SANDBOX: "bubblewrap" }, signal);
    const onDemand = { REEVE_SANDBOX: "bubblewrap", REEVE_SANDBOX_SPARE: "0" };
    yield* figuresOf("bubblewrap without spares", onDemand, signal);
    if (process.env["DOCKER_HOST"] === undefined) return;
    yield* figuresOf("docker", { REEVE_SANDBOX: "docker" }, signal);
  },
};

async function* figuresOf(
  driver: string,
  settings: Readonly<Record<string, string>>,
  signal: AbortSignal,
): AsyncIterable<Figure> {
  await using system = await System.start({ settings }, signal);
  for (const id of ["sandbox", "sandbox-warm"]) {
    const spec = { id, model: `scripted:${id}`, permissionClasses: ["execute"] };
    await createAgent(system, spec, signal);
  }
  await warmUp(3, barePython);
  const floors = await timesOf(times, barePython);
  const first: number[] = [];
  await warmUp(3, () => run(system, "sandbox", signal));
  await warmUp(times, async () => first.push(...(await callsOf(system, "sandbox", signal))));
  const name = `${driver}: a call of execute_code, from queue to result`;
  const aim = { ratio: 2.5 };
  yield { name: `${name}: first of a run`, unit: "ms", values: first, floors, aim };
  const next: number[] = [];
  await warmUp(longRuns, async () => {
    next.push(...(await callsOf(system, "sandbox-warm", signal)).slice(1));
  });
  yield {
    name: `${name}: next of a run`,
    unit: "ms",
    values: next,
    floors,
    aim: { ratio: 2, ...(driver === "docker" && { median: 15 }) },
  };
}

/** Returns the duration of each call of one run. */
async function callsOf(
  system: System,
  agentId: string,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const { events } = await run(system, agentId, signal);
  return events.flatMap(({ event }) =>
    event.case === "toolResult" ? [event.value.durationMs] : [],
  );
}
