import { create } from "@bufbuild/protobuf";
import { RunSchema } from "@reeve/contracts/run";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { shardCount } from "@reeve/jetstream/local-index/agenda";
import type { Clock } from "@reeve/platform/async/clock";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect } from "vitest";
import { openRunLists } from "../../src/app/list-runs.ts";
import type { Deadlines, SweepRunsPorts } from "../../src/app/sweep/sweep-runs.ts";
import { sweepRuns } from "../../src/app/sweep/sweep-runs.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import { appendFacts, memoryPorts } from "./memory-ports.ts";

const never = new AbortController().signal;
const logger = createLogger("test", "silent");
/** The run that the tests of the sweeper forget. */
export const run = "run_forgotten";

/** A clock that a test moves: each `pass` lets the sweeper do one round. */
class ManualClock implements Clock {
  #nowMs = 0;
  #asleep = Promise.withResolvers<{ readonly delayMs: number; readonly wake: () => void }>();

  now(): number {
    return this.#nowMs;
  }

  async sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    this.#asleep.resolve({ delayMs, wake: resolve });
    await promise;
  }

  /** Lets the sweeper do one round, after more time than it wanted to sleep if given. */
  async pass(atLeastMs = 0): Promise<void> {
    const { delayMs, wake } = await this.#asleep.promise;
    this.#asleep = Promise.withResolvers();
    this.#nowMs += Math.max(delayMs, atLeastMs);
    wake();
    await this.#asleep.promise;
  }
}

/** A run with these facts in its log, and a row in the index. */
export async function withRun(...facts: readonly ExternalFact[]): Promise<MemoryPorts> {
  const ports = memoryPorts();
  await appendFacts(ports.log, run, ...facts);
  await note(ports);
  return ports;
}

export async function note(ports: MemoryPorts, runId = run): Promise<void> {
  await ports.runs.put(`acme.${runId}`, create(RunSchema, { runId }), never);
}

export type SweptPorts = Pick<MemoryPorts, "dispatch" | "runs"> &
  Pick<SweepRunsPorts, "log" | "logEnds"> & { readonly expire?: Deadlines["expire"] };

/** A gateway sweeps for this many rounds of five seconds. */
export async function sweeping(ports: SweptPorts, rounds: number): Promise<void> {
  await using gateway = await sweeper(ports);
  for (let round = 0; round < rounds; round++) await gateway.clock.pass();
}

/** A gateway with its own index that sweeps when its clock moves. */
export async function sweeper(
  { runs, expire = () => Promise.resolve(), ...ports }: SweptPorts,
  owned: readonly number[] = Array.from({ length: shardCount }, (_, shard) => shard),
) {
  const clock = new ManualClock();
  const ending = new AbortController();
  const runLists = openRunLists(runs, { folder: undefined, log: logger, clock }, never);
  const isCurrent = async () => {
    await runLists.page({ tenant: "acme" }, { pageSize: 1, pageToken: "" }, never);
  };
  await isCurrent();
  const deadlines = { now: () => clock.now(), expire };
  const swept = { ...ports, runLists, shards: { owned }, deadlines };
  const sweep = sweepRuns(swept, clock, logger, ending.signal);
  return {
    clock,
    /** Resolves when the index has all rows. */
    isCurrent,
    async [Symbol.asyncDispose]() {
      ending.abort(new Error("enough"));
      await expect(sweep).rejects.toThrow("enough");
      await runLists[Symbol.asyncDispose]();
    },
  };
}
