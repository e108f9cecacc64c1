import { create } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { DispatchSchema, RunSchema, RunStatus } from "@reeve/contracts/run";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import type { MemoryPorts } from "../../../test/support/memory-ports.ts";
import { appendFacts, memoryPorts } from "../../../test/support/memory-ports.ts";
import type { SweepClock } from "./sweep-runs.ts";
import { sweepRuns } from "./sweep-runs.ts";

const never = new AbortController().signal;
const logger = createLogger("test", "silent");
const run = "run_forgotten";

const created = { case: "runCreated", value: {} } as const;
const parkedRun = { case: "runParked", value: {} } as const;
const approved = { case: "approval", value: { approval: { approvalId: "a", state: 2 } } } as const;
const ended = { case: "status", value: { status: RunStatus.COMPLETED } } as const;

function claimed(dispatchSequence: number) {
  const value = { worker: "w", epoch: 1, dispatchSequence: BigInt(dispatchSequence) };
  return { case: "runClaimed", value } as const;
}

/** A clock that a test moves: each `pass` lets the sweeper do one round. */
class ManualClock implements SweepClock {
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

  async pass(): Promise<void> {
    const { delayMs, wake } = await this.#asleep.promise;
    this.#asleep = Promise.withResolvers();
    this.#nowMs += delayMs;
    wake();
    await this.#asleep.promise;
  }
}

/** A run with these facts in its log, and a row in the index. */
async function withRun(...facts: readonly ExternalFact[]): Promise<MemoryPorts> {
  const ports = memoryPorts();
  await appendFacts(ports.log, run, ...facts);
  await note(ports);
  return ports;
}

async function note(ports: MemoryPorts, runId = run): Promise<void> {
  await ports.runs.put(`acme.${runId}`, create(RunSchema, { runId }), never);
}

/** A gateway sweeps for this many rounds of five seconds. */
async function sweeping(ports: Parameters<typeof sweepRuns>[0], rounds: number): Promise<void> {
  const { clock, end } = await sweeper(ports);
  for (let round = 0; round < rounds; round++) await clock.pass();
  await end();
}

/** A gateway that sweeps when the clock moves. */
async function sweeper(ports: Parameters<typeof sweepRuns>[0]) {
  const clock = new ManualClock();
  const ending = new AbortController();
  const sweep = sweepRuns(ports, clock, logger, ending.signal);
  // The watch has delivered the existing rows before the first round.
  await new Promise(setImmediate);
  const end = async () => {
    ending.abort(new Error("enough"));
    await expect(sweep).rejects.toThrow("enough");
  };
  return { clock, end };
}

/** A worker takes the dispatch and acknowledges it. */
async function acknowledgeNext({ dispatch }: MemoryPorts): Promise<number> {
  const end = new AbortController();
  for await (const { sequence, acknowledge } of dispatch.take(1, end.signal)) {
    acknowledge();
    return sequence;
  }
  throw new Error("nothing was offered");
}

test("a run without a dispatch is dispatched after the grace period, by any gateway", async () => {
  const ports = await withRun(created);
  await sweeping(ports, 1);
  expect(ports.dispatch.length).toBe(0);
  await sweeping(ports, 2);
  expect(ports.dispatch.length).toBe(1);
});

test("a run that waits for a worker is dispatched only once", async () => {
  const ports = await withRun(created);
  await sweeping(ports, 100);
  expect(ports.dispatch.length).toBe(1);
});

test("a run with a slow owner is left alone while the owner's message is in the queue", async () => {
  const ports = memoryPorts();
  const message = create(DispatchSchema, { tenant: "acme", runId: run });
  const sequence = await ports.dispatch.publish(message, { dedupeId: "start" }, never);
  await appendFacts(ports.log, run, created, claimed(sequence));
  await note(ports);
  await sweeping(ports, 100);
  expect(ports.dispatch.length).toBe(1);
  await acknowledgeNext(ports);
  await sweeping(ports, 2);
  expect(ports.dispatch.length).toBe(1);
});

test("a dispatch that is lost too is replaced", async () => {
  const ports = await withRun(created, claimed(7));
  await sweeping(ports, 2);
  expect(await acknowledgeNext(ports)).toBe(1);
  await appendFacts(ports.log, run, { ...claimed(1), value: { ...claimed(1).value, epoch: 2 } });
  await sweeping(ports, 2);
  expect(ports.dispatch.length).toBe(1);
});

test("a parked run is left alone until it has a decision that no worker took up", async () => {
  const ports = await withRun(created, claimed(7), parkedRun);
  await sweeping(ports, 100);
  expect(ports.dispatch.length).toBe(0);
  await appendFacts(ports.log, run, approved);
  await sweeping(ports, 2);
  expect(ports.dispatch.length).toBe(1);
});

test.each<[string, readonly ExternalFact[]]>([
  ["that has ended", [created, claimed(7), ended]],
  ["that waits for its turn in a thread", [{ case: "runCreated", value: { threadId: "t1" } }]],
])("a run %s is left alone", async (_, facts) => {
  const ports = await withRun(...facts);
  await sweeping(ports, 10);
  expect(ports.dispatch.length).toBe(0);
});

test("several gateways may sweep a run concurrently", async () => {
  const ports = await withRun(created, claimed(7));
  await Promise.all([sweeping(ports, 4), sweeping(ports, 4), sweeping(ports, 4)]);
  expect(ports.dispatch.length).toBe(1);
});

test("a parked run is swept at increasing intervals, and its log is not read again", async () => {
  const ports = await withRun(created, claimed(7), parkedRun);
  const read: (readonly RunEvent[])[] = [];
  const log = {
    read: async (...args: Parameters<MemoryPorts["log"]["read"]>) => {
      const stretch = await ports.log.read(...args);
      read.push(stretch.events);
      return stretch;
    },
  };
  await sweeping({ ...ports, log }, 123);
  // After 10 and 610 seconds.
  expect(read.map(({ length }) => length)).toEqual([3, 0]);
});

test("after a restart only the last batch of a parked run is read", async () => {
  const ports = memoryPorts();
  await appendFacts(ports.log, run, created, claimed(7));
  await appendFacts(ports.log, run, parkedRun);
  const waits = create(RunSchema, { runId: run, status: RunStatus.WAITING });
  await ports.runs.put(`acme.${run}`, waits, never);
  const read: (readonly RunEvent[])[] = [];
  const log = {
    read: async (...args: Parameters<MemoryPorts["log"]["read"]>) => {
      const stretch = await ports.log.read(...args);
      read.push(stretch.events);
      return stretch;
    },
  };
  const { clock, end } = await sweeper({ ...ports, log });
  await clock.pass();
  await clock.pass();
  expect(read).toEqual([]);
  await appendFacts(ports.log, run, approved);
  await ports.runs.put(`acme.${run}`, waits, never);
  await new Promise(setImmediate);
  await clock.pass();
  await clock.pass();
  expect(read.flat().map(({ event }) => event.case)).toEqual(["approval"]);
  expect(ports.dispatch.length).toBe(1);
  await end();
});

test("a run whose row is out of date is read from its whole log", async () => {
  const ports = memoryPorts();
  await appendFacts(ports.log, run, created, claimed(7), parkedRun);
  await appendFacts(ports.log, run, approved);
  const waits = create(RunSchema, { runId: run, status: RunStatus.WAITING });
  await ports.runs.put(`acme.${run}`, waits, never);
  await sweeping(ports, 2);
  expect(ports.dispatch.length).toBe(1);
});

test("a run that has just lost its dispatch is found at once, although ten thousand others are due", async () => {
  const ports = memoryPorts();
  for (let count = 0; count < 10_000; count++) {
    await appendFacts(ports.log, `run_${count}`, created, claimed(7), parkedRun);
    await note(ports, `run_${count}`);
  }
  const { clock, end } = await sweeper(ports);
  for (let round = 0; round < 12; round++) await clock.pass();
  await appendFacts(ports.log, run, created);
  await note(ports);
  await new Promise(setImmediate);
  for (let round = 0; round < 3; round++) await clock.pass();
  expect(ports.dispatch.length).toBe(1);
  await end();
});

test("a run without a dispatch is found although each round is filled with other changed runs", async () => {
  const ports = memoryPorts();
  const { clock, end } = await sweeper(ports);
  for (let round = 0; round < 5; round++) {
    for (let count = 0; count < 250; count++) await note(ports, `run_${round}_${count}`);
    if (round === 0) {
      await appendFacts(ports.log, run, created);
      await note(ports);
    }
    await new Promise(setImmediate);
    await clock.pass();
  }
  expect(ports.dispatch.length).toBe(1);
  await end();
});

test("a round sweeps at most two hundred runs, and the next continues with the others", async () => {
  const ports = memoryPorts();
  for (let count = 0; count < 250; count++) {
    await appendFacts(ports.log, `run_${count}`, created);
    await note(ports, `run_${count}`);
  }
  await sweeping(ports, 2);
  expect(ports.dispatch.length).toBe(200);
  await sweeping(ports, 3);
  expect(ports.dispatch.length).toBe(250);
});
