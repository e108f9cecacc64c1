import { ErrorReason } from "@reeve/contracts/error";
import { RunCreatedSchema, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { cancelRun } from "../../src/commands/cancel-run.ts";
import { emptyTail } from "@reeve/jetstream/log/port";
import { emptyHead, foldHead } from "../../src/head/run-head.ts";
import { isTerminal } from "../../src/head/run-status.ts";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import type { Process } from "./explore.ts";
import { explore } from "./explore.ts";
import type { Turn } from "./support.ts";
import { key, never, runCreated, start, ThreadStage, turnsIn } from "./support.ts";
import { endTurn } from "../../src/thread/end-turn.ts";
import { refreshThread } from "../../src/thread/read-thread.ts";
import type { WhenBusy } from "../../src/thread/queue-turn.ts";
import { queueTurn } from "../../src/thread/queue-turn.ts";
import { settleThread } from "../../src/thread/settle-thread.ts";
import { repairThread } from "../../src/thread/repair-thread.ts";
import type { ThreadPorts } from "../../src/thread/thread-ports.ts";
import { activeTurn } from "../../src/thread/thread-head.ts";

/** A gateway that starts a run; a refusal is a valid answer. */
function starting(runId: string, whenBusy: WhenBusy): Process {
  const run = async (ports: ThreadPorts) => {
    try {
      await start(ports, runId, whenBusy);
    } catch (error) {
      if (!(error instanceof Failure) || error.reason !== ErrorReason.THREAD_BUSY) throw error;
    }
  };
  return { run };
}

/** A gateway that cancels a run. */
function cancelling(runId: string): Process {
  const run = async (ports: ThreadPorts) => {
    const by = { requestedBy: "ann", reason: "enough" };
    await cancelRun(ports, { tenant: key.tenant, run: runId }, by, never);
    await endTurn(ports, key, runId, never);
  };
  return { run };
}

/** A worker that owns a run: it works, appends the end, and ends the turn. */
function working(runId: string): Process {
  const run = async (ports: ThreadPorts) => {
    await work(ports, runId);
    await endTurn(ports, key, runId, never);
  };
  return { run, forgets: true };
}

/** A process that settles the thread. */
const settling: Process = {
  run: async (ports) => void (await settleThread(ports, key, never)),
  forgets: true,
};

/** A gateway starts a run, and a worker completes it at once. */
async function startAndWork(ports: ThreadPorts, runId: string): Promise<void> {
  await start(ports, runId);
  await work(ports, runId);
  await endTurn(ports, key, runId, never);
}

async function work({ log }: ThreadPorts, run: string): Promise<void> {
  const runKey = { tenant: key.tenant, run };
  for (;;) {
    const { events, tail } = await log.read(runKey, emptyTail, never);
    const head = foldHead(emptyHead, events);
    if (isTerminal(head.status)) return;
    const facts = [
      { case: "runClaimed", value: { worker: "w", epoch: 1 } },
      { case: "status", value: { status: RunStatus.COMPLETED } },
    ] as const;
    const written = facts.map((event, index) =>
      create(RunEventSchema, { runId: run, sequence: tail.sequence + 1 + index, event }),
    );
    if ((await log.append(runKey, tail, written, never)).kind === "appended") return;
  }
}

/** Workers and the repair of the gateways complete everything; a published dispatch is not lost. */
async function playOut(stage: ThreadStage): Promise<void> {
  for (;;) {
    const state = await repairThread(stage, key, never);
    const active = activeTurn(state);
    if (active === undefined) return;
    expect(stage.dispatched).toContain(active.runId);
    await work(stage, active.runId);
  }
}

function isUnderWay({ isStarted, ended }: Turn): boolean {
  return isStarted && ended === undefined;
}

/** Holds in every world: one turn at a time, in order, nothing twice, and nothing left over. */
async function checkThread(stage: ThreadStage): Promise<void> {
  await playOut(stage);
  const { events } = await stage.threads.read(key, emptyTail, never);
  const begun: string[] = [];
  const facts = new Set<string>();
  for (const [index, event] of events.entries()) {
    if (event.event.case === "turnStarted") begun.push(event.event.value.runId);
    const { value, case: kind } = event.event;
    const fact = `${kind} ${value !== undefined && "runId" in value ? value.runId : ""}`;
    expect(facts.has(fact)).toBe(false);
    facts.add(fact);
    const turns = turnsIn(events.slice(0, index + 1));
    expect(turns.filter(isUnderWay).length).toBeLessThanOrEqual(1);
  }
  const turns = turnsIn(events);
  const accepted = turns.map(({ runId }) => runId);
  expect(begun).toEqual(accepted.filter((runId) => begun.includes(runId)));
  expect(turns.every(({ ended }) => ended !== undefined)).toBe(true);
  // A refused run leaves nothing; an accepted run is written and has ended.
  const runs = new Set(stage.log.batches.map(({ key: { run } }) => run));
  expect([...runs].toSorted()).toEqual(accepted.toSorted());
  for (const runId of runs) {
    const head = foldHead(emptyHead, await stage.events(runId));
    expect(isTerminal(head.status)).toBe(true);
    // A run is worked on only after its turn started.
    expect(head.claim !== undefined && !begun.includes(runId)).toBe(false);
  }
}

async function statusOf(stage: ThreadStage, runId: string): Promise<RunStatus> {
  return foldHead(emptyHead, await stage.events(runId)).status;
}

/** A thread in which these runs were started one after another; the first has its turn. */
async function threadWith(...runIds: readonly string[]): Promise<ThreadStage> {
  const stage = new ThreadStage();
  for (const runId of runIds) await start(stage, runId);
  return stage;
}

describe("in any order of actions, with a crash before any action", () => {
  test("of two concurrent starts, one is refused or gets its turn after the other", async () => {
    const ends = await explore({
      setUp: async () => ({
        stage: new ThreadStage(),
        processes: [starting("run_a", "reject"), starting("run_b", "reject")],
      }),
      check: async (stage, crashed) => {
        await checkThread(stage);
        const accepted = (await stage.turns()).length;
        expect(accepted).toBeGreaterThanOrEqual(crashed === undefined ? 1 : 0);
      },
    });
    expect(ends).toBeGreaterThan(10);
  });

  test("two runs that queue while a worker ends the turn before them both get their turn", async () => {
    const ends = await explore({
      setUp: async () => ({
        stage: await threadWith("run_0"),
        processes: [starting("run_a", "queue"), starting("run_b", "queue"), working("run_0")],
      }),
      check: async (stage, crashed) => {
        await checkThread(stage);
        const accepted = (await stage.turns()).length;
        expect(accepted).toBeGreaterThanOrEqual(crashed === undefined ? 3 : 2);
      },
    });
    expect(ends).toBeGreaterThan(100);
  });

  test("a run that interrupts while a worker ends the turn gets the next turn", async () => {
    const ends = await explore({
      setUp: async () => ({
        stage: await threadWith("run_0"),
        processes: [starting("run_a", "interrupt"), working("run_0")],
      }),
      check: async (stage) => {
        await checkThread(stage);
        if (!(await stage.accepted()).includes("run_a")) return;
        expect(await statusOf(stage, "run_a")).toBe(RunStatus.COMPLETED);
      },
    });
    expect(ends).toBeGreaterThan(50);
  });

  test("an interrupting run gets its turn before the waiting runs, even after a crash of its gateway", async () => {
    const ends = await explore({
      setUp: async () => ({
        stage: await threadWith("run_0", "run_1"),
        processes: [starting("run_a", "interrupt")],
      }),
      check: async (stage) => {
        await checkThread(stage);
        if (!(await stage.accepted()).includes("run_a")) return;
        for (const before of ["run_0", "run_1"]) {
          expect(await statusOf(stage, before)).toBe(RunStatus.CANCELLED);
        }
        expect(await statusOf(stage, "run_a")).toBe(RunStatus.COMPLETED);
      },
    });
    expect(ends).toBeGreaterThan(5);
  });

  test("turns keep their order when a worker of an older version ends one without a head", async () => {
    const ends = await explore({
      setUp: async () => ({
        stage: await threadWith("run_0", "run_1"),
        processes: [starting("run_a", "queue"), { ...working("run_0"), isOlder: true }],
      }),
      check: async (stage) => {
        await checkThread(stage);
        expect(await statusOf(stage, "run_1")).toBe(RunStatus.COMPLETED);
      },
    });
    expect(ends).toBeGreaterThan(30);
  });

  test("turns keep their order when a gateway starts a run on an old head", async () => {
    const ends = await explore({
      setUp: async () => ({
        stage: await threadWith("run_0"),
        processes: [{ ...starting("run_a", "queue"), lags: true }, working("run_0")],
      }),
      check: (stage) => checkThread(stage),
    });
    expect(ends).toBeGreaterThan(20);
  });

  test("a request that is sent twice is one turn, even if the first one ends between the reads of the second", async () => {
    const ends = await explore({
      setUp: async () => ({
        stage: new ThreadStage(),
        processes: [
          { run: async (ports) => await startAndWork(ports, "run_a") },
          { ...starting("run_a", "queue"), lags: true },
        ],
      }),
      check: async (stage, crashed) => {
        await checkThread(stage);
        const accepted = await stage.accepted();
        expect(accepted).toEqual(accepted.length === 0 ? [] : ["run_a"]);
        expect(accepted.length > 0 || crashed !== undefined).toBe(true);
      },
    });
    expect(ends).toBeGreaterThan(20);
  });

  test("a run that is cancelled while it waits or starts never blocks the next one", async () => {
    const ends = await explore({
      setUp: async () => ({
        stage: await threadWith("run_0", "run_1", "run_2"),
        processes: [cancelling("run_1"), working("run_0")],
      }),
      check: async (stage) => {
        await checkThread(stage);
        expect(await statusOf(stage, "run_2")).toBe(RunStatus.COMPLETED);
      },
    });
    expect(ends).toBeGreaterThan(50);
  });
});

test("of two interrupting runs the later one gets the turn, even after a crash of a gateway", async () => {
  const ends = await explore({
    setUp: async () => {
      const stage = await threadWith("run_0");
      // Both have their place, and neither has cancelled the runs before it yet.
      for (const runId of ["run_a", "run_b"]) {
        const packed = anyPack(RunCreatedSchema, runCreated(runId));
        const place = { runId, runCreated: packed, whenBusy: "interrupt" } as const;
        const seen = await refreshThread(stage.threads, key, undefined, never);
        await queueTurn(stage, key, seen, place, never);
      }
      return { stage, processes: [settling, settling] };
    },
    check: async (stage) => {
      await checkThread(stage);
      const accepted = await stage.accepted();
      for (const runId of accepted) {
        const isLast = runId === accepted.at(-1);
        const status = isLast ? RunStatus.COMPLETED : RunStatus.CANCELLED;
        expect(await statusOf(stage, runId)).toBe(status);
      }
    },
  });
  expect(ends).toBeGreaterThan(50);
});
