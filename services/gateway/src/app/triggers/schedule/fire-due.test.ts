import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { RunStatus, StartRunRequestSchema } from "@reeve/contracts/run";
import { FiringOutcome, OnMissed, OnOverlap, TriggerState } from "@reeve/contracts/trigger";
import { emptyTail } from "@reeve/jetstream/log/port";
import { Failure } from "@reeve/platform/failure";
import { firingRunIdOf } from "@reeve/run/commands/run-id";
import { expect, test } from "vitest";
import { ann, appendFacts } from "../../../../test/support/memory-ports.ts";
import type { MemoryTriggers } from "../../../../test/support/memory-triggers.ts";
import {
  firingsOf,
  hourMs,
  memoryTriggers,
  nightly,
  specOf,
  startMs,
  storeTrigger,
} from "../../../../test/support/memory-triggers.ts";
import { startRun, startRunAs } from "../../start-run.ts";
import { pauseTrigger, resumeTrigger, updateTrigger } from "../manage-triggers.ts";
import { fireDue, maxPendingMs } from "./fire-due.ts";

const never = new AbortController().signal;
const unavailable = new Failure("unavailable", ErrorReason.UNAVAILABLE, "the store is gone");

async function createdBy(ports: MemoryTriggers, run: string) {
  const { events } = await ports.gateway.log.read({ tenant: "acme", run }, emptyTail, never);
  return events[0]?.event.case === "runCreated" ? events[0].event.value : undefined;
}

async function stateOf(ports: MemoryTriggers) {
  return (await ports.records.get("acme.nightly", never))?.record;
}

async function historyOf(ports: MemoryTriggers) {
  return (await firingsOf(ports)).map(({ outcome, missed }) => [outcome, missed]);
}

const started = [FiringOutcome.STARTED, 0];

test("a time that has come starts a run of the owner with the input of the time", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports, { labels: { team: "ops" } });
  await fireDue(ports, nightly, never);
  expect(await firingsOf(ports)).toEqual([]);
  ports.nowMs = startMs + hourMs + 1_500;
  await fireDue(ports, nightly, never);
  const [firing] = await firingsOf(ports);
  expect(firing).toMatchObject({ outcome: FiringOutcome.STARTED, problem: "" });
  expect(await createdBy(ports, firing?.runId ?? "")).toMatchObject({
    agentId: "writer",
    input: "report of 2026-11-27T11:00:00.000Z",
    startedBy: "ann",
    labels: { team: "ops", trigger: "nightly" },
  });
  expect((await stateOf(ports))?.pending).toEqual([]);
});

// Requirement: TRIG-1
test("one firing starts one run, however many gateways fire and however often", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  ports.nowMs = startMs + hourMs;
  await Promise.all(Array.from({ length: 8 }, () => fireDue(ports, nightly, never)));
  await fireDue(ports, nightly, never);
  expect(await historyOf(ports)).toEqual([started]);
  expect(ports.gateway.dispatch.length).toBe(1);
});

// Requirement: TRIG-1
test("a gateway that dies at any write leaves a firing that another one completes once", async () => {
  for (let writes = 0; writes < 6; writes++) {
    const ports = await memoryTriggers();
    await storeTrigger(ports);
    ports.nowMs = startMs + hourMs;
    await fireDue(dyingAfter(ports, writes), nightly, never).catch(() => undefined);
    // Within the grace of the time, and after the first gateway has lost its claim.
    ports.nowMs += 15_000;
    await fireDue(ports, nightly, never);
    expect([writes, await historyOf(ports)]).toEqual([writes, [started]]);
    expect(ports.gateway.dispatch.length).toBe(1);
    expect((await stateOf(ports))?.pending).toEqual([]);
  }
});

test("an update between a claim and its completion does not change the run", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  ports.nowMs = startMs + hourMs;
  const dying = { ...ports, firings: dyingTable(ports.firings, { left: 0 }) };
  await expect(fireDue(dying, nightly, never)).rejects.toThrow(unavailable);
  await updateTrigger(ports, ann, { spec: specOf({ input: "changed" }), revision: 0 }, never);
  ports.nowMs += 15_000;
  await fireDue(ports, nightly, never);
  const [firing] = await firingsOf(ports);
  expect((await createdBy(ports, firing?.runId ?? ""))?.input).toMatch(/^report of/);
});

// Requirement: TRIG-1, TRIG-2
test("a clock that jumps back fires no time twice, and one that jumps ahead follows the policy", async () => {
  const ports = await memoryTriggers();
  const schedule = { cron: "0 * * * *", onMissed: OnMissed.ONCE };
  const source = { case: "schedule", value: schedule } as const;
  await storeTrigger(ports, { onOverlap: OnOverlap.ALLOW, source });
  ports.nowMs = startMs + hourMs;
  await fireDue(ports, nightly, never);
  ports.nowMs = startMs;
  await fireDue(ports, nightly, never);
  expect(await historyOf(ports)).toEqual([started]);
  ports.nowMs = startMs + 5.5 * hourMs;
  await fireDue(ports, nightly, never);
  expect(await historyOf(ports)).toEqual([started, [FiringOutcome.MISSED, 3], started]);
});

// Requirement: TRIG-2
test("all missed times start runs of their own, in their order", async () => {
  const ports = await memoryTriggers();
  const schedule = { cron: "0 * * * *", onMissed: OnMissed.ALL, maxMissed: 3 };
  const source = { case: "schedule", value: schedule } as const;
  await storeTrigger(ports, { onOverlap: OnOverlap.ALLOW, source });
  ports.nowMs = startMs + 5.5 * hourMs;
  await fireDue(ports, nightly, never);
  expect(await historyOf(ports)).toEqual([[FiringOutcome.MISSED, 2], started, started, started]);
  const runs = new Set((await firingsOf(ports)).map(({ runId }) => runId));
  expect(runs.size).toBe(4);
});

// Requirement: TRIG-3
test("nobody else can start the run of a firing before the trigger does", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  // Request ids of earlier firings are in their runs, which everybody may read.
  const uid = (await stateOf(ports))?.uid;
  const requestId = `trigger:${uid}:${new Date(startMs + hourMs).toISOString()}`;
  const request = create(StartRunRequestSchema, { requestId, agentId: "writer", input: "nothing" });
  const mallory = { ...ann, subject: "mallory" };
  const { run } = await startRun(ports.gateway, mallory, request, never);
  ports.nowMs = startMs + hourMs;
  await fireDue(ports, nightly, never);
  const [firing] = await firingsOf(ports);
  expect(firing?.outcome).toBe(FiringOutcome.STARTED);
  expect(firing?.runId).not.toBe(run.runId);
  expect(await createdBy(ports, firing?.runId ?? "")).toMatchObject({
    requestId,
    startedBy: "ann",
  });
});

test("a run of another request is not taken for that of a firing", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  const uid = (await stateOf(ports))?.uid;
  const requestId = `trigger:${uid}:${new Date(startMs + hourMs).toISOString()}`;
  const run = firingRunIdOf("acme", requestId);
  const request = create(StartRunRequestSchema, { agentId: "writer", input: "nothing" });
  await startRunAs(ports.gateway, ann, { request, requestId: "other", run }, never);
  ports.nowMs = startMs + hourMs;
  await fireDue(ports, nightly, never);
  expect(await firingsOf(ports)).toMatchObject([{ outcome: FiringOutcome.FAILED, runId: "" }]);
});

// Requirement: TRIG-5
test("a firing is skipped while the last run has not ended", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  ports.nowMs = startMs + hourMs;
  await fireDue(ports, nightly, never);
  ports.nowMs += hourMs;
  await fireDue(ports, nightly, never);
  const [first, second] = await firingsOf(ports);
  expect(second).toMatchObject({ outcome: FiringOutcome.SKIPPED, runId: "" });
  expect(second?.problem).toBe(`run ${first?.runId} of the trigger has not ended`);
  const completed = { case: "status", value: { status: RunStatus.COMPLETED } } as const;
  await appendFacts(ports.gateway.log, first?.runId ?? "", completed);
  ports.nowMs += hourMs;
  await fireDue(ports, nightly, never);
  expect((await firingsOf(ports)).at(-1)?.outcome).toBe(FiringOutcome.STARTED);
});

// Requirement: TRIG-5
test("a run that has not ended is remembered over any number of skipped firings", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports, { source: { case: "schedule", value: { cron: "* * * * *" } } });
  for (let minute = 1; minute <= 103; minute++) {
    ports.nowMs = startMs + minute * 60_000;
    await fireDue(ports, nightly, never);
  }
  expect(ports.gateway.dispatch.length).toBe(1);
  const firings = await firingsOf(ports);
  expect(firings).toHaveLength(100);
  expect(firings.findIndex(({ outcome }) => outcome === FiringOutcome.STARTED)).toBe(0);
});

test("a firing that has not started when its trigger is paused starts no run", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  ports.nowMs = startMs + hourMs;
  const dying = { ...ports, firings: dyingTable(ports.firings, { left: 0 }) };
  await expect(fireDue(dying, nightly, never)).rejects.toThrow(unavailable);
  await pauseTrigger(ports, nightly, never);
  ports.nowMs += 15_000;
  await fireDue(ports, nightly, never);
  expect(await firingsOf(ports)).toMatchObject([
    { outcome: FiringOutcome.FAILED, problem: expect.stringContaining("was paused"), runId: "" },
  ]);
  expect(ports.gateway.dispatch.length).toBe(0);
  expect((await stateOf(ports))?.pending).toEqual([]);
});

// Requirement: TRIG-1
test("a firing whose run has started when its trigger is paused is recorded with its run", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  ports.nowMs = startMs + hourMs;
  // The gateway dies after it has added the firing to the history and started the run.
  const dying = { ...ports, firings: dyingTable(ports.firings, { left: 1 }) };
  await expect(fireDue(dying, nightly, never)).rejects.toThrow(unavailable);
  expect(ports.gateway.dispatch.length).toBe(1);
  await pauseTrigger(ports, nightly, never);
  ports.nowMs += 15_000;
  await fireDue(ports, nightly, never);
  const [firing] = await firingsOf(ports);
  expect(firing).toMatchObject({ outcome: FiringOutcome.STARTED, problem: "" });
  expect((await createdBy(ports, firing?.runId ?? ""))?.startedBy).toBe("ann");
  await resumeTrigger(ports, ann, "nightly", never);
  ports.nowMs = startMs + 2 * hourMs;
  await fireDue(ports, nightly, never);
  expect((await firingsOf(ports)).at(-1)?.outcome).toBe(FiringOutcome.SKIPPED);
  expect(ports.gateway.dispatch.length).toBe(1);
});

test("times that pass while a trigger is paused are not missed", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  expect((await pauseTrigger(ports, nightly, never)).nextFiringAt).toBeUndefined();
  ports.nowMs = startMs + 3.5 * hourMs;
  await fireDue(ports, nightly, never);
  await resumeTrigger(ports, ann, "nightly", never);
  await fireDue(ports, nightly, never);
  expect(await firingsOf(ports)).toEqual([]);
  ports.nowMs = startMs + 4 * hourMs;
  await fireDue(ports, nightly, never);
  expect(await historyOf(ports)).toEqual([started]);
});

// Requirement: TRIG-5
test("a run that cannot start is a failed firing, and the next time fires", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  await ports.gateway.agents.delete("acme.writer", never);
  ports.nowMs = startMs + hourMs;
  await fireDue(ports, nightly, never);
  expect(await firingsOf(ports)).toMatchObject([
    { outcome: FiringOutcome.FAILED, problem: expect.stringContaining("agent writer not found") },
  ]);
  expect((await stateOf(ports))?.trigger?.state).toBe(TriggerState.ACTIVE);
});

test("a firing that the store does not accept is tried again, and given up after a while", async () => {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  const broken = { ...ports, gateway: { ...ports.gateway, assertRoom: refuse } };
  ports.nowMs = startMs + hourMs;
  await expect(fireDue(broken, nightly, never)).rejects.toThrow(unavailable);
  ports.nowMs += maxPendingMs + 1;
  await fireDue(broken, nightly, never);
  expect(await firingsOf(ports)).toMatchObject([
    { outcome: FiringOutcome.FAILED, problem: expect.stringContaining("may have started") },
  ]);
  expect((await stateOf(ports))?.pending).toEqual([]);
});

function refuse(): never {
  throw unavailable;
}

/** Returns the ports of a gateway whose store fails from its write number `writes` on. */
function dyingAfter(ports: MemoryTriggers, writes: number): MemoryTriggers {
  const life = { left: writes };
  return {
    ...ports,
    records: dyingTable(ports.records, life),
    firings: dyingTable(ports.firings, life),
  };
}

/** Returns a table that shares `life` with others, and refuses reads and writes once it has ended. */
function dyingTable<Table extends object>(table: Table, life: { left: number }): Table {
  return new Proxy(table, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      const isWrite = name === "update" || name === "create" || name === "delete";
      return (...given: readonly unknown[]) => {
        if (life.left === 0) return Promise.reject(unavailable);
        if (isWrite) life.left -= 1;
        return Reflect.apply(member, target, given) as unknown;
      };
    },
  });
}
