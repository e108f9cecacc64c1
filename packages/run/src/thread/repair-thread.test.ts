import { emptyTail } from "@reeve/jetstream/log/port";
import { expect, test } from "vitest";
import { key, never, start, ThreadStage, withMethods } from "../../test/thread/support.ts";
import { repairThread } from "./repair-thread.ts";
import type { ThreadPorts } from "./thread-ports.ts";

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

/** The ports of a process whose reads of runs ask a server that was cut off before it got any. */
function behind(stage: ThreadStage): ThreadPorts {
  const { log, threads, journal, dispatch } = stage;
  const nothing = { events: [], tail: emptyTail, batchTails: [] };
  return {
    threads,
    journal,
    dispatch,
    log: {
      read: async () => nothing,
      append: (...args) => log.append(...args),
      follow: (...args) => log.follow(...args),
    },
  };
}

// Requirement: DUR-4
test("a turn whose run one server has and another one lacks is neither cancelled nor written twice", async () => {
  const stage = new ThreadStage();
  await start(stage, "run_a");
  await start(stage, "run_b");
  const facts = await stage.facts();
  const repair = repairThread(behind(stage), key, never);
  await expect(repair).rejects.toMatchObject({ kind: "unavailable" });
  expect(await stage.facts()).toEqual(facts);
  const again = await repairThread(stage, key, never);
  expect(again.openTurns.map(({ runId }) => runId)).toEqual(["run_a", "run_b"]);
});

// Requirement: DUR-4
test("a turn that an older state of its thread lacks is not taken for ended", async () => {
  const stage = new ThreadStage();
  await start(stage, "run_a");
  const older = await stage.threads.last(key, never);
  await start(stage, "run_b");
  const facts = await stage.facts();
  let reads = 0;
  // After the first read, the server that answers was cut off before the second turn.
  const last: typeof stage.threads.last = async (...args) =>
    reads++ === 0 ? await stage.threads.last(...args) : older;
  const ports = { ...behind(stage), threads: withMethods(stage.threads, { last }) };
  await expect(repairThread(ports, key, never)).rejects.toMatchObject({ kind: "unavailable" });
  expect(await stage.facts()).toEqual(facts);
});
