import { expect, test } from "vitest";
import { SharedRuns } from "./shared-runs.ts";

/** An action whose runs end when the test says so. */
function controlled() {
  const runs: PromiseWithResolvers<void>[] = [];
  const shared = new SharedRuns(() => {
    const run = Promise.withResolvers<void>();
    runs.push(run);
    return run.promise;
  });
  return { runs, shared };
}

test("callers during a run share the next one", async () => {
  const { runs, shared } = controlled();
  const first = shared.run();
  const others = [shared.run(), shared.run()];
  expect(runs).toHaveLength(1);
  runs[0]?.resolve();
  await first;
  await expect.poll(() => runs.length).toBe(2);
  runs[1]?.resolve();
  await Promise.all(others);
  expect(runs).toHaveLength(2);
});

test("a run that fails is reported to its own callers only", async () => {
  const { runs, shared } = controlled();
  const first = shared.run();
  const second = shared.run();
  runs[0]?.reject(new Error("no quorum"));
  await expect(first).rejects.toThrow("no quorum");
  await expect.poll(() => runs.length).toBe(2);
  runs[1]?.resolve();
  await expect(second).resolves.toBeUndefined();
});

test("a call after a run begins another", async () => {
  const { runs, shared } = controlled();
  const first = shared.run();
  runs[0]?.resolve();
  await first;
  const second = shared.run();
  expect(runs).toHaveLength(2);
  runs[1]?.resolve();
  await second;
});
