import { ErrorReason } from "@reeve/contracts/error";
import { storeFailure } from "@reeve/jetstream/streams/errors";
import { expect, test } from "vitest";
import { key, never, start, ThreadStage, withMethods } from "../../test/thread/support.ts";
import { endTurn } from "./end-turn.ts";
import { repairThread } from "./repair-thread.ts";
import { activeTurn } from "./thread-head.ts";
import type { ThreadPorts } from "./thread-ports.ts";

const refuse = () => Promise.reject(storeFailure({ code: 503, err_code: 10047 }));

/** The stores of a stage whose logs of runs, or of threads, have no room. */
function full(stage: ThreadStage, what: "log" | "threads"): ThreadPorts {
  const { threads, log, journal, dispatch } = stage;
  const { read, follow } = log;
  const ports = { threads, log, journal, dispatch };
  return what === "threads"
    ? { ...ports, threads: withMethods(threads, { append: refuse }) }
    : { ...ports, log: { append: refuse, read: read.bind(log), follow: follow.bind(log) } };
}

test("a run that ends in a full store ends its turn, and the next run starts when there is room", async () => {
  const stage = new ThreadStage();
  await start(stage, "run_a");
  // The store becomes full between the place of a run and the run.
  await expect(start(full(stage, "log"), "run_b")).rejects.toMatchObject({
    reason: ErrorReason.STORAGE_FULL,
  });
  await stage.finish("run_a");
  const head = await endTurn(full(stage, "log"), key, "run_a", never);
  expect(head.openTurns.map(({ runId }) => runId)).toEqual(["run_b"]);
  expect(activeTurn(await repairThread(stage, key, never))?.runId).toBe("run_b");
  expect(await stage.events("run_b")).toHaveLength(1);
});

test("a run whose own turn cannot be ended is refused, and is ended when there is room", async () => {
  const stage = new ThreadStage();
  await start(stage, "run_a");
  await stage.finish("run_a");
  await expect(endTurn(full(stage, "threads"), key, "run_a", never)).rejects.toMatchObject({
    reason: ErrorReason.STORAGE_FULL,
  });
  expect((await endTurn(stage, key, "run_a", never)).openTurns).toEqual([]);
});
