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
