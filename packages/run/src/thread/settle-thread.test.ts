import { ErrorReason } from "@reeve/contracts/error";
import { RunStatus } from "@reeve/contracts/run";
import type { TurnEnded } from "@reeve/contracts/thread";
import { TurnOutcome } from "@reeve/contracts/thread";
import { cancelRun } from "../commands/cancel-run.ts";
import { describe, expect, test } from "vitest";
import { key, never, runCreated, start, ThreadStage } from "../../test/thread/support.ts";
import { deleteThread } from "./delete-thread.ts";
import { endTurn } from "./end-turn.ts";
import { settleThread } from "./settle-thread.ts";
import { activeTurn, waitingTurns } from "./thread-head.ts";

async function threadWith(...runIds: readonly string[]): Promise<ThreadStage> {
  const stage = new ThreadStage();
  for (const runId of runIds) await start(stage, runId);
  return stage;
}

async function cancel(stage: ThreadStage, run: string): Promise<void> {
  const by = { requestedBy: "ann", reason: "" };
  await cancelRun(stage, { tenant: key.tenant, run }, by, never);
}

async function endedIn(stage: ThreadStage, run: string): Promise<TurnEnded | undefined> {
  return (await stage.turns()).find(({ runId }) => runId === run)?.ended;
}

const ids = Array.from({ length: 20 }, (_, index) => `run_${index}`);

describe("the first run of a thread", () => {
  test("gets its turn at once, is written, and is dispatched", async () => {
    const stage = await threadWith("run_a");
    expect(await stage.facts()).toEqual(["turnQueued run_a", "turnStarted run_a"]);
    expect((await stage.events("run_a")).map(({ event }) => event.case)).toEqual(["runCreated"]);
    expect(stage.dispatched).toEqual(["run_a"]);
  });

  test("keeps its place when the request is repeated", async () => {
    const stage = await threadWith("run_a");
    expect((await start(stage, "run_a", "reject")).runId).toBe("run_a");
    expect(await stage.facts()).toHaveLength(2);
  });
});

describe("a repeated request id", () => {
  const reused = { kind: "exists", reason: ErrorReason.REQUEST_ID_REUSED };

  test("with a different request is refused, even while the first request is in progress", async () => {
    const stage = new ThreadStage();
    const outcomes = await Promise.allSettled([
      start(stage, "run_a", "queue", runCreated("one")),
      start(stage, "run_a", "queue", runCreated("other")),
    ]);
    const refused = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(refused).toEqual([expect.objectContaining(reused)]);
    expect(await stage.turns()).toHaveLength(1);
  });

  test("of a run outside the thread is refused, and blocks no other run", async () => {
    const stage = await threadWith("run_0");
    await stage.write("run_a", { case: "runCreated", value: { tenant: key.tenant } });
    await expect(start(stage, "run_a", "queue")).rejects.toMatchObject(reused);
    await start(stage, "run_b", "queue");
    await stage.finish("run_0");
    const state = await settleThread(stage, key, never);
    expect(activeTurn(state)?.runId).toBe("run_b");
    // It never had a place.
    expect(await stage.accepted()).toEqual(["run_0", "run_b"]);
    expect(await stage.events("run_a")).toHaveLength(1);
  });
});

describe("a busy thread", () => {
  test("refuses a run, names the run in progress, and stores nothing", async () => {
    const stage = await threadWith("run_a");
    await expect(start(stage, "run_b", "reject")).rejects.toMatchObject({
      kind: "precondition",
      reason: ErrorReason.THREAD_BUSY,
      message: expect.stringContaining("run_a"),
    });
    expect(await stage.turns()).toHaveLength(1);
    expect(await stage.events("run_b")).toEqual([]);
  });

  test("is idle when its run has ended, even if its turn has not", async () => {
    const stage = await threadWith("run_a");
    await stage.finish("run_a");
    await start(stage, "run_b", "reject");
    expect(activeTurn(await stage.head())?.runId).toBe("run_b");
  });

  test("queues a run, which is written at once and dispatched at its turn", async () => {
    const stage = await threadWith("run_a", "run_b");
    expect(await stage.events("run_b")).toHaveLength(1);
    expect(stage.dispatched).toEqual(["run_a"]);
    await stage.finish("run_a");
    await endTurn(stage, key, "run_a", never);
    expect(stage.dispatched).toEqual(["run_a", "run_b"]);
  });

  test("queues at most a hundred runs, but always accepts an interrupting run", async () => {
    const stage = await threadWith(...Array.from({ length: 101 }, (_, index) => `run_${index}`));
    await expect(start(stage, "run_more")).rejects.toMatchObject({
      kind: "exhausted",
      reason: ErrorReason.THREAD_QUEUE_FULL,
    });
    await start(stage, "run_now", "interrupt");
    const state = await stage.head();
    expect(activeTurn(state)?.runId).toBe("run_now");
    expect(waitingTurns(state)).toEqual([]);
  });

  test("drops a run that is cancelled while it waits, without a trace in the conversation", async () => {
    const stage = await threadWith("run_a", "run_b", "run_c");
    await cancel(stage, "run_b");
    const waiting = waitingTurns(await endTurn(stage, key, "run_b", never));
    expect(waiting.map(({ runId }) => runId)).toEqual(["run_c"]);
    await stage.finish("run_a");
    const state = await endTurn(stage, key, "run_a", never);
    expect(activeTurn(state)?.runId).toBe("run_c");
    expect(await endedIn(stage, "run_b")).toMatchObject({
      outcome: TurnOutcome.CANCELLED,
      messages: [],
    });
    expect(stage.dispatched).toEqual(["run_a", "run_c"]);
  });

  test("skips a run that was cancelled while it waited, even if its turn was never ended", async () => {
    const stage = await threadWith("run_a", "run_b", "run_c");
    await cancel(stage, "run_b");
    await stage.finish("run_a");
    const state = await settleThread(stage, key, never);
    expect(activeTurn(state)?.runId).toBe("run_c");
    expect(await stage.facts()).not.toContain("turnStarted run_b");
  });
});

// Requirement: CHAT-7
describe("many concurrent starts", () => {
  test("with reject: one run gets its turn, and the others leave nothing", async () => {
    const stage = new ThreadStage();
    const outcomes = await Promise.allSettled(ids.map((id) => start(stage, id, "reject")));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(new Set(stage.log.batches.map(({ key: { run } }) => run)).size).toBe(1);
  });

  test("with queue: all runs get their turn in the order in which they were accepted", async () => {
    const stage = new ThreadStage();
    await Promise.all(ids.map((id) => start(stage, id)));
    const accepted = await stage.accepted();
    const order: string[] = [];
    for (;;) {
      // Several processes settle concurrently, as gateways and workers do.
      const [state] = await Promise.all(
        Array.from({ length: 3 }, () => settleThread(stage, key, never)),
      );
      const active = state && activeTurn(state);
      if (active === undefined) break;
      order.push(active.runId);
      await stage.finish(active.runId);
    }
    expect(order).toEqual(accepted);
    expect(order.toSorted()).toEqual(ids.toSorted());
  });

  test("with interrupt: only the run that was accepted last remains", async () => {
    const stage = await threadWith("run_first");
    await Promise.all(ids.map((id) => start(stage, id, "interrupt")));
    const [state, turns] = [await stage.head(), await stage.turns()];
    expect(activeTurn(state)?.runId).toBe(turns.at(-1)?.runId);
    expect(waitingTurns(state)).toEqual([]);
    for (const { runId, ended } of turns.slice(0, -1)) {
      expect(ended?.outcome).toBe(TurnOutcome.CANCELLED);
      expect((await stage.events(runId)).at(-1)?.event.value).toMatchObject({
        status: RunStatus.CANCELLED,
      });
    }
  });
});

test("a run behind an interrupting run is not cancelled", async () => {
  const stage = await threadWith("run_a");
  await Promise.all([start(stage, "run_b", "interrupt"), start(stage, "run_c", "queue")]);
  const [, , last] = await stage.turns();
  expect(last?.runId).toBe("run_c");
  expect(activeTurn(await stage.head())?.runId).toBe("run_b");
  expect(last?.ended).toBeUndefined();
});

describe("a deleted thread", () => {
  test("no longer exists, and its id is not used again", async () => {
    const stage = await threadWith("run_a");
    await stage.finish("run_a");
    await deleteThread(stage, key, "ann", never);
    const gone = { kind: "not_found", reason: ErrorReason.THREAD_NOT_FOUND };
    await expect(deleteThread(stage, key, "ann", never)).rejects.toMatchObject(gone);
    await expect(start(stage, "run_b")).rejects.toMatchObject(gone);
    expect(await stage.events("run_b")).toEqual([]);
  });

  test("was idle: a thread with a run in progress or waiting is not deleted", async () => {
    const stage = await threadWith("run_a", "run_b");
    await expect(deleteThread(stage, key, "ann", never)).rejects.toMatchObject({
      kind: "precondition",
      reason: ErrorReason.THREAD_BUSY,
      metadata: { run_id: "run_a" },
    });
  });

  test("existed before", async () => {
    const deleting = deleteThread(new ThreadStage(), key, "ann", never);
    await expect(deleting).rejects.toMatchObject({ reason: ErrorReason.THREAD_NOT_FOUND });
  });
});
