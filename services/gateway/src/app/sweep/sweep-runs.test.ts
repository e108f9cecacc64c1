import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { DispatchSchema, RunSchema, RunStatus } from "@reeve/contracts/run";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { expect, test } from "vitest";
import type { MemoryPorts } from "../../../test/support/memory-ports.ts";
import { appendFacts, memoryPorts } from "../../../test/support/memory-ports.ts";
import type { SweptPorts } from "../../../test/support/swept-runs.ts";
import { note, run, sweeper, sweeping, withRun } from "../../../test/support/swept-runs.ts";
import { shardsOf } from "../presence/shards-of.ts";
import type { Deadlines } from "./sweep-runs.ts";

const never = new AbortController().signal;

const created = { case: "runCreated", value: {} } as const;
const parkedRun = { case: "runParked", value: {} } as const;
const approved = { case: "approval", value: { approval: { approvalId: "a", state: 2 } } } as const;
const ended = { case: "status", value: { status: RunStatus.COMPLETED } } as const;

function claimed(dispatchSequence: number) {
  const value = { worker: "w", epoch: 1, dispatchSequence: BigInt(dispatchSequence) };
  return { case: "runClaimed", value } as const;
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

test("a parked run is swept again after hours, and only the end of its log is read", async () => {
  const ports = await withRun(created, claimed(7), parkedRun);
  const waits = create(RunSchema, { runId: run, status: RunStatus.WAITING });
  await ports.runs.put(`acme.${run}`, waits, never);
  let looks = 0;
  const logEnds: MemoryPorts["logEnds"] = {
    last: async (...args) => {
      looks += 1;
      return await ports.logEnds.last(...args);
    },
  };
  const log = { read: () => Promise.reject(new Error("the whole log was read")) };
  await using gateway = await sweeper({ ...ports, log, logEnds });
  for (const [ms, expected] of [
    [10_000, 1],
    [5 * 3_600_000, 1],
    [3_600_000, 2],
  ] as const) {
    await gateway.clock.pass(ms);
    expect(looks).toBe(expected);
  }
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
  await using gateway = await sweeper({ ...ports, log });
  await gateway.clock.pass();
  await gateway.clock.pass();
  expect(read).toEqual([]);
  await appendFacts(ports.log, run, approved);
  await ports.runs.put(`acme.${run}`, waits, never);
  await gateway.isCurrent();
  await gateway.clock.pass();
  await gateway.clock.pass();
  expect(read.flat().map(({ event }) => event.case)).toEqual(["approval"]);
  expect(ports.dispatch.length).toBe(1);
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

test("a run that has just lost its dispatch is found at once, although more are due than its rounds can sweep", async () => {
  const ports = memoryPorts();
  for (let count = 0; count < 4_500; count++) {
    await appendFacts(ports.log, `run_${count}`, created, claimed(7), parkedRun);
    await note(ports, `run_${count}`);
  }
  await using gateway = await sweeper(ports);
  await gateway.clock.pass();
  await appendFacts(ports.log, run, created);
  await note(ports);
  await gateway.isCurrent();
  for (let round = 0; round < 3; round++) await gateway.clock.pass();
  expect(ports.dispatch.length).toBe(1);
});

test("a run without a dispatch is found although each round is filled with other changed runs", async () => {
  const ports = memoryPorts();
  await using gateway = await sweeper(ports);
  for (let round = 0; round < 5; round++) {
    for (let count = 0; count < 250; count++) await note(ports, `run_${round}_${count}`);
    if (round === 0) {
      await appendFacts(ports.log, run, created);
      await note(ports);
    }
    await gateway.isCurrent();
    await gateway.clock.pass();
  }
  expect(ports.dispatch.length).toBe(1);
});

test("a round sweeps at most a thousand runs, and the next continues with the others", async () => {
  const ports = memoryPorts();
  for (let count = 0; count < 1_250; count++) {
    await appendFacts(ports.log, `run_${count}`, created);
    await note(ports, `run_${count}`);
  }
  await using gateway = await sweeper(ports);
  for (let round = 0; round < 2; round++) await gateway.clock.pass();
  expect(ports.dispatch.length).toBe(1_000);
  await gateway.clock.pass();
  expect(ports.dispatch.length).toBe(1_250);
});

test("gateways that share the shards sweep each run once", async () => {
  const ports = memoryPorts();
  for (let count = 0; count < 100; count++) {
    await appendFacts(ports.log, `run_${count}`, created);
    await note(ports, `run_${count}`);
  }
  const read: string[] = [];
  const log: SweptPorts["log"] = {
    read: async (key, ...rest) => {
      if (rest[0].sequence === 0) read.push(key.run);
      return await ports.log.read(key, ...rest);
    },
  };
  const names = ["a", "b", "c"];
  for (const name of names) {
    await using gateway = await sweeper({ ...ports, log }, shardsOf(name, names));
    for (let round = 0; round < 2; round++) await gateway.clock.pass();
  }
  expect(new Set(read).size).toBe(100);
  expect(read).toHaveLength(100);
});

// Requirement: CHAT-8
test("a parked run that waits for a person is woken at the deadline, to the round, and not before", async () => {
  const ports = memoryPorts();
  const wakeAt = timestampFromMs(12_000);
  await appendFacts(
    ports.log,
    run,
    { case: "runCreated", value: { tenant: "acme" } },
    { case: "runClaimed", value: { worker: "w", epoch: 1 } },
    { case: "runParked", value: { wakeAt } },
  );
  await ports.runs.put(
    `acme.${run}`,
    create(RunSchema, { runId: run, status: RunStatus.WAITING }),
    never,
  );
  const woken: number[] = [];
  const expire: Deadlines["expire"] = async (_, nowMs) => void woken.push(nowMs);
  await using gateway = await sweeper({ ...ports, expire });
  for (let round = 0; round < 2; round++) await gateway.clock.pass();
  expect(woken).toEqual([]);
  for (let round = 0; round < 2; round++) await gateway.clock.pass();
  expect(woken.every((at) => at >= 12_000) && woken.length > 0).toBe(true);
});
