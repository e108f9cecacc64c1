import { setImmediate as endOfTurn } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Dispatch, RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { memoryCallJournal, memoryRunLog } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import type { Delivery } from "@reeve/jetstream/queue/port";
import { expect, test } from "vitest";
import type { OwnedRun } from "./contract.ts";
import { runActivities } from "./run-activities.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_1" };
const owned: OwnedRun = {
  ...key,
  dispatch: { sequence: 8, afterSequence: 1, traceparent: "" },
  attempts: 3,
};
type Event = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;

const created: Event = { case: "runCreated", value: { tenant: key.tenant } };
const parkedUntil = (ms: number): Event => ({
  case: "runParked",
  value: { wakeAt: timestampFromMs(ms) },
});

interface OwnerOptions {
  /** What became of every other worker. */
  readonly fate?: "alive" | "crashed";
  /** What each probe of another worker finds. Default: `fate`. */
  readonly fates?: readonly ("alive" | "crashed")[];
  /** How long a silent owner keeps its run if it is alive. */
  readonly graceMs?: number;
  /** How many events the owner writes, one in each grace. */
  readonly written?: number;
}

/** A worker that settles the run as `settle` says, with a log of these events. The time is 100 s. */
async function bench(
  events: readonly Event[],
  settle: (delivery: Delivery<Dispatch>) => void = (delivery) => delivery.acknowledge(),
  { fate = "alive", fates = [], graceMs = 1, written = 0 }: OwnerOptions = {},
) {
  const log = memoryRunLog();
  const dispatch = new MemoryWorkQueue<Dispatch>();
  const all = events.map((event, index) =>
    create(RunEventSchema, { runId: key.run, sequence: index + 1, event }),
  );
  const append = async (event: RunEvent) => {
    const { tail } = await log.read(key, emptyTail, never);
    await log.append(key, tail, [event], never);
  };
  for (const event of all) await append(event);
  let count = all.length;
  const heartbeats: number[] = [];
  const carried: string[] = [];
  const probes: string[] = [];
  const found = [...fates];
  const deliveries: Delivery<Dispatch>[] = [];
  const activities = runActivities({
    ports: {
      log,
      logEnds: { last: async () => await lastOf(log) },
      dispatch,
      journal: memoryCallJournal(),
      clock: { now: () => 100_000 },
      worker: "this",
      holder: {
        carry(run) {
          carried.push(run);
          return { [Symbol.dispose]: () => void carried.splice(carried.indexOf(run), 1) };
        },
      },
      async ownerFate(worker) {
        probes.push(worker);
        if (++count <= all.length + written) {
          const event: Event = { case: "text", value: { text: "more" } };
          await append(create(RunEventSchema, { runId: key.run, sequence: count, event }));
        }
        return found.shift() ?? fate;
      },
    },
    heartbeats: { intervalMs: 5, graceMs },
    context: () => ({
      info: { attempt: 2 },
      cancellationSignal: never,
      heartbeat: () => void heartbeats.push(1),
    }),
    offer(delivery) {
      deliveries.push(delivery);
      settle(delivery);
      return true;
    },
  });
  return { activities, dispatch, deliveries, heartbeats, carried, probes, log };
}

async function lastOf(log: ReturnType<typeof memoryRunLog>) {
  const range = await log.read(key, emptyTail, never);
  return { ...range, events: range.events.slice(-1) };
}

test("an activity delivers the run under its dispatch, with the attempts of all activities before", async () => {
  const { activities, deliveries } = await bench([created, parkedUntil(160_000)]);
  expect(await activities.ownRun(owned)).toEqual({ kind: "parked", checkMs: 60_000, attempts: 5 });
  expect(deliveries).toMatchObject([
    { sequence: 8, attempt: 5, message: { tenant: "acme", runId: "run_1", afterSequence: 1 } },
  ]);
});

test("an activity reports what its run waits for by the end of the log", async () => {
  const cases: readonly (readonly [readonly Event[], object])[] = [
    [[created, { case: "runParked", value: {} }], { kind: "parked" }],
    [
      [created, { case: "runParked", value: {} }, { case: "messageSubmitted", value: {} }],
      { kind: "elsewhere" },
    ],
    [[created, { case: "status", value: { status: RunStatus.COMPLETED } }], { kind: "ended" }],
    [[], { kind: "ended" }],
  ];
  for (const [events, outcome] of cases) {
    const { activities } = await bench(events);
    expect(await activities.ownRun(owned)).toEqual({ ...outcome, attempts: 5 });
  }
});

test("an activity dispatches a run whose time to wake has come, and has it checked again", async () => {
  const { activities, dispatch } = await bench([created, parkedUntil(99_000)]);
  const outcome = { kind: "parked", checkMs: 30_000, attempts: 5 };
  expect(await activities.ownRun(owned)).toEqual(outcome);
  expect(await activities.ownRun(owned)).toEqual(outcome);
  expect(dispatch.length).toBe(1);
});

test("an activity reports a run that its worker gave back, and one that another worker has", async () => {
  const returned = await bench([created], (delivery) => delivery.returnToQueue(700));
  expect(await returned.activities.ownRun(owned)).toEqual({
    kind: "again",
    delayMs: 700,
    attempts: 5,
  });
  const abandoned = await bench([created], (delivery) => delivery.abandon());
  expect(await abandoned.activities.ownRun(owned)).toEqual({ kind: "elsewhere", attempts: 5 });
});

// Requirement: DUR-5
test("an activity sends heartbeats by time, and shows others that it has the run, until its worker has settled it", async () => {
  const { activities, heartbeats, carried, deliveries } = await bench([created], () => undefined);
  const owning = activities.ownRun(owned);
  await expect.poll(() => heartbeats.length).toBeGreaterThan(2);
  expect(carried).toEqual(["run_1"]);
  deliveries[0]?.acknowledge();
  await owning;
  expect(carried).toEqual([]);
});

function claimed(worker: string): Event {
  return { case: "runClaimed", value: { worker, epoch: 1 } };
}

// Requirement: DUR-3, DUR-5
test("a run of a dead owner is delivered at once, also when it dies during its grace, and one of a silent owner that stays connected after its grace", async () => {
  const cases: readonly (readonly [readonly Event[], OwnerOptions])[] = [
    [[created, claimed("other")], { fate: "crashed", graceMs: Infinity }],
    [[created, claimed("other")], { fate: "alive", graceMs: 20 }],
    [[created, claimed("this")], { fate: "alive", graceMs: Infinity }],
    [[created, claimed("other"), parkedUntil(1)], { fate: "alive", graceMs: Infinity }],
  ];
  for (const [events, options] of cases) {
    const silent = await bench(events, undefined, options);
    await silent.activities.ownRun(owned);
    expect(silent.deliveries).toHaveLength(1);
  }
  const dying = ["alive", "crashed", "crashed"] as const;
  const died = await bench([created, claimed("other")], undefined, {
    fates: dying,
    graceMs: Infinity,
  });
  await died.activities.ownRun(owned);
  expect(died.deliveries).toHaveLength(1);
  const returning = Array.from({ length: 40 }, (_, index) => (index % 2 ? "alive" : "crashed"));
  const back = await bench([created, claimed("other")], undefined, {
    fates: returning,
    graceMs: Infinity,
  });
  void back.activities.ownRun(owned);
  await expect.poll(() => back.probes.length).toBeGreaterThan(1);
  expect(back.deliveries).toEqual([]);
  const connected = { fate: "alive", graceMs: Infinity } as const;
  const kept = await bench([created, claimed("other")], undefined, connected);
  void kept.activities.ownRun(owned);
  await expect.poll(() => kept.heartbeats.length).toBeGreaterThan(2);
  expect(kept.deliveries).toEqual([]);
});

// Requirement: DUR-3
test("an owner whose heartbeats were lost keeps its run as long as it writes to the log", async () => {
  const events = [created, claimed("other")];
  const options = { fate: "alive", graceMs: 2, written: 3 } as const;
  const { activities, log, deliveries } = await bench(events, undefined, options);
  await activities.ownRun(owned);
  expect(deliveries).toHaveLength(1);
  expect((await log.read(key, emptyTail, never)).events).toHaveLength(5);
});

// Requirement: DUR-3
test("a worker that gets its own run again first settles the attempt that it works on", async () => {
  const events = [created, claimed("this")];
  const { activities, deliveries, carried } = await bench(events, () => undefined);
  const first = activities.ownRun(owned);
  await expect.poll(() => deliveries.length).toBe(1);
  const second = activities.ownRun(owned);
  await expect.poll(() => carried.length).toBe(2);
  await endOfTurn();
  expect(deliveries).toHaveLength(1);
  deliveries[0]?.acknowledge();
  await first;
  await expect.poll(() => deliveries.length).toBe(2);
  deliveries[1]?.acknowledge();
  await second;
  expect(carried).toEqual([]);
});

// Requirement: CAN-3
test("a workflow that is cancelled cancels its run in the log, once", async () => {
  const { activities, log, dispatch } = await bench([created]);
  await activities.cancelRun(key);
  await activities.cancelRun(key);
  const { events } = await log.read(key, emptyTail, never);
  expect(events.map(({ event }: RunEvent) => event.case)).toEqual([
    "runCreated",
    "cancelRequested",
    "costSummary",
    "treeStored",
    "status",
  ]);
  expect(dispatch.length).toBe(1);
});
