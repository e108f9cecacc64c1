import { ErrorReason } from "@reeve/contracts/error";
import { RunStatus } from "@reeve/contracts/run";
import { TurnOutcome } from "@reeve/contracts/thread";
import { describe, expect, test } from "vitest";
import { created, key, never, ThreadStage } from "../test/support.ts";
import type { WhenBusy } from "./queue-turn.ts";
import { queueTurn } from "./queue-turn.ts";
import { settleThread } from "./settle-thread.ts";
import { activeTurn, waitingTurns } from "./thread-state.ts";

function start(stage: ThreadStage, runId: string, whenBusy: WhenBusy = "queue") {
  return queueTurn(stage, key, { runId, runCreated: created(runId) }, whenBusy, never);
}

describe("the first run of a thread", () => {
  test("has its turn at once, is written and dispatched", async () => {
    const stage = new ThreadStage();
    await start(stage, "run_a");
    await settleThread(stage, key, never);
    expect(activeTurn(await stage.state())?.runId).toBe("run_a");
    expect((await stage.events("run_a")).map(({ event }) => event.case)).toEqual(["runCreated"]);
    expect(stage.dispatched).toEqual(["run_a"]);
  });

  test("that is asked for again keeps its place", async () => {
    const stage = new ThreadStage();
    await start(stage, "run_a");
    const again = await start(stage, "run_a", "reject");
    expect(again.sequence).toBe(2);
  });
});

describe("a thread that is busy", () => {
  test("refuses a run, names the one that is under way, and stores nothing", async () => {
    const stage = new ThreadStage();
    await start(stage, "run_a");
    await expect(start(stage, "run_b", "reject")).rejects.toMatchObject({
      kind: "precondition",
      reason: ErrorReason.THREAD_BUSY,
      message: expect.stringContaining("run_a"),
    });
    expect((await stage.state()).turns).toHaveLength(1);
  });

  test("lets a run wait, which is written and not dispatched before its turn", async () => {
    const stage = new ThreadStage();
    for (const runId of ["run_a", "run_b"]) await start(stage, runId);
    await settleThread(stage, key, never);
    expect(await stage.events("run_b")).toHaveLength(1);
    expect(stage.dispatched).toEqual(["run_a"]);
    await stage.finish("run_a");
    await settleThread(stage, key, never);
    expect(stage.dispatched).toEqual(["run_a", "run_b"]);
  });

  test("lets no more than a hundred wait", async () => {
    const stage = new ThreadStage();
    for (let index = 0; index <= 100; index++) await start(stage, `run_${index}`);
    await expect(start(stage, "run_more")).rejects.toMatchObject({
      kind: "exhausted",
      reason: ErrorReason.THREAD_QUEUE_FULL,
    });
  });

  test("passes over a run that was cancelled while it waited", async () => {
    const stage = new ThreadStage();
    for (const runId of ["run_a", "run_b", "run_c"]) await start(stage, runId);
    await settleThread(stage, key, never);
    await stage.write("run_b", { case: "status", value: { status: RunStatus.CANCELLED } });
    await stage.finish("run_a");
    const state = await settleThread(stage, key, never);
    expect(activeTurn(state)?.runId).toBe("run_c");
    expect(state.turns[1]?.ended?.outcome).toBe(TurnOutcome.CANCELLED);
    expect(stage.dispatched).toEqual(["run_a", "run_c"]);
  });
});

test("many that start at once: with reject one has its turn, with queue all have theirs in order", async () => {
  const stage = new ThreadStage();
  const ids = Array.from({ length: 20 }, (_, index) => `run_${index}`);
  const rejected = await Promise.allSettled(ids.map((id) => start(stage, id, "reject")));
  expect(rejected.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  await Promise.all(ids.map((id) => start(stage, id)));
  const order: string[] = [];
  for (;;) {
    // Several settle at once, as gateways and workers do.
    const [state] = await Promise.all(
      Array.from({ length: 3 }, () => settleThread(stage, key, never)),
    );
    const active = state && activeTurn(state);
    if (active === undefined) break;
    order.push(active.runId);
    await stage.finish(active.runId);
  }
  expect(order.toSorted()).toEqual(ids.toSorted());
  expect(new Set(order).size).toBe(20);
  expect(waitingTurns(await stage.state())).toEqual([]);
});

test("the index follows the thread and never goes back", async () => {
  const stage = new ThreadStage();
  for (const runId of ["run_a", "run_b"]) await start(stage, runId);
  await settleThread(stage, key, never);
  const row = async () => (await stage.threadIndex.get("acme.t1", never))?.record;
  expect(await row()).toMatchObject({
    title: "run_a",
    activeRunId: "run_a",
    queuedRunIds: ["run_b"],
    endedTurns: 0,
    unsettled: false,
  });
  await stage.finish("run_a");
  await settleThread(stage, key, never);
  expect(await row()).toMatchObject({ activeRunId: "run_b", queuedRunIds: [], endedTurns: 1 });
});
