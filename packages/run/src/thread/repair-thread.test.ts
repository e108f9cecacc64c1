import { expect, test } from "vitest";
import { key, never, start, ThreadStage } from "../../test/thread/support.ts";
import { repairThread } from "./repair-thread.ts";

/** A worker takes the dispatch, and the message is lost before the run is claimed. */
async function loseNext({ queue }: ThreadStage): Promise<void> {
  const end = new AbortController();
  for await (const { acknowledge } of queue.take(1, end.signal)) return acknowledge();
}

test("a turn whose dispatch is lost is dispatched again, once each time", async () => {
  const stage = new ThreadStage();
  await start(stage, "run_a");
  for (let loss = 0; loss < 2; loss++) {
    await loseNext(stage);
    expect(stage.queue.length).toBe(0);
    for (let look = 0; look < 3; look++) await repairThread(stage, key, never);
    expect(stage.queue.length).toBe(1);
  }
});

test("a turn whose run has an owner is left alone", async () => {
  const stage = new ThreadStage();
  await start(stage, "run_a");
  await loseNext(stage);
  await stage.write("run_a", { case: "runClaimed", value: { worker: "w", epoch: 1 } });
  await repairThread(stage, key, never);
  expect(stage.queue.length).toBe(0);
});

test("a run that was deleted after its turn ended is not written again by a process that saw the turn open", async () => {
  const stage = new ThreadStage();
  await start(stage, "run_a");
  await stage.finish("run_a");
  // The process reads the thread, and only then the run.
  const read: typeof stage.log.read = async (run, ...rest) => {
    await repairThread(stage, key, never);
    await stage.log.remove(run, never);
    return await stage.log.read(run, ...rest);
  };
  const { threads, dispatch, journal, log } = stage;
  const append = log.append.bind(log);
  const follow = log.follow.bind(log);
  const stale = { threads, dispatch, journal, log: { read, append, follow } };
  await repairThread(stale, key, never);
  expect(await stage.events("run_a")).toEqual([]);
  expect(await stage.facts()).toEqual(["turnQueued run_a", "turnStarted run_a", "turnEnded run_a"]);
  expect(stage.queue.length).toBe(1);
});
