import { RunStatus } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { key, never, start, ThreadStage, withMethods } from "../../test/thread/support.ts";
import { repairThread } from "./repair-thread.ts";
import { settleThread } from "./settle-thread.ts";
import type { ThreadPorts } from "./thread-ports.ts";
import { activeTurn } from "./thread-head.ts";

class Crash extends Error {}

/** The ports of a process that dies right before or right after write number `survived`. */
function mortal(stage: ThreadStage, survived: number, dies: "before" | "after"): ThreadPorts {
  let left = survived;
  const write = async <Result>(act: () => Promise<Result>): Promise<Result> => {
    if (left < 0) throw new Crash();
    left--;
    if (left < 0 && dies === "before") throw new Crash();
    const result = await act();
    if (left < 0) throw new Crash();
    return result;
  };
  const { threads, log, journal, dispatch } = stage;
  return {
    journal: {
      read: (...args) => journal.read(...args),
      append: (...args) => write(() => journal.append(...args)),
    },
    threads: withMethods(threads, {
      append: (...args) => write(() => threads.append(...args)),
    }),
    log: {
      read: (...args) => log.read(...args),
      follow: (...args) => log.follow(...args),
      append: (...args) => write(() => log.append(...args)),
    },
    dispatch: {
      publish: (...args) => write(() => dispatch.publish(...args)),
      holds: (...args) => dispatch.holds(...args),
    },
  };
}

/** Runs a process that dies during its work. False: the work ended before the crash. */
async function dying(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return false;
  } catch (error) {
    if (error instanceof Crash) return true;
    throw error;
  }
}

/** Workers and the repair of the gateways complete everything in progress. */
async function playOut(stage: ThreadStage): Promise<readonly string[]> {
  const finished: string[] = [];
  for (;;) {
    const active = activeTurn(await repairThread(stage, key, never));
    if (active === undefined) return finished;
    expect(stage.dispatched).toContain(active.runId);
    const events = await stage.events(active.runId);
    const isOver = events.some(({ event }) => event.case === "status");
    if (!isOver) await stage.finish(active.runId);
    finished.push(active.runId);
  }
}

describe.each(["before", "after"] as const)("a process that dies right %s a write", (dies) => {
  test("while it starts a run: the run gets its turn, or never exists", async () => {
    for (let survived = 0; ; survived++) {
      const stage = new ThreadStage();
      const ports = mortal(stage, survived, dies);
      if (!(await dying(() => start(ports, "run_a")))) break;
      const finished = await playOut(stage);
      const isKnown = (await stage.turns()).length === 1;
      expect(finished).toEqual(isKnown ? ["run_a"] : []);
      // The client got no answer and repeats its request.
      await start(stage, "run_a");
      expect([...finished, ...(await playOut(stage))]).toEqual(["run_a"]);
      expect(await stage.turns()).toHaveLength(1);
    }
  });

  test("while it starts a run beside another gateway: both runs get their turn, one after the other", async () => {
    for (let survived = 0; ; survived++) {
      const stage = new ThreadStage();
      const ports = mortal(stage, survived, dies);
      const [died] = await Promise.all([dying(() => start(ports, "run_a")), start(stage, "run_b")]);
      const finished = await playOut(stage);
      const known = await stage.accepted();
      expect(finished).toEqual(known);
      expect(known).toContain("run_b");
      if (!died) break;
    }
  });

  test("while it ends a turn: the turn ends once, and the next one starts", async () => {
    for (let survived = 0; ; survived++) {
      const stage = new ThreadStage();
      await start(stage, "run_a");
      await start(stage, "run_b");
      await stage.finish("run_a");
      const ports = mortal(stage, survived, dies);
      const died = await dying(() => settleThread(ports, key, never));
      expect(await playOut(stage)).toEqual(["run_b"]);
      const ends = stage.threads.batches
        .flatMap(({ events }) => events)
        .filter(({ event }) => event.case === "turnEnded");
      expect(ends).toHaveLength(2);
      if (!died) break;
    }
  });

  test("while a waiting run is cancelled: the other runs continue", async () => {
    for (let survived = 0; ; survived++) {
      const stage = new ThreadStage();
      for (const runId of ["run_a", "run_b", "run_c"]) await start(stage, runId);
      await stage.write("run_b", { case: "status", value: { status: RunStatus.CANCELLED } });
      const ports = mortal(stage, survived, dies);
      const died = await dying(() => settleThread(ports, key, never));
      expect(await playOut(stage)).toEqual(["run_a", "run_c"]);
      if (!died) break;
    }
  });
});
