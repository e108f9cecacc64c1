import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { actOnRuns } from "./act-on-runs.ts";

/** Fails for the run b. */
const actOrFail = (runId: string) =>
  runId === "b"
    ? Promise.reject(new ConnectError("run b ended", Code.FailedPrecondition))
    : Promise.resolve(`new ${runId}`);
const never = new AbortController().signal;

test("each run has one result, in the order of the runs, and a failure stops no other", async () => {
  expect(await actOnRuns(["a", "b", "c", "d", "e"], actOrFail, never)).toEqual([
    { runId: "a", newRunId: "new a" },
    { runId: "b", problem: "run b ended" },
    { runId: "c", newRunId: "new c" },
    { runId: "d", newRunId: "new d" },
    { runId: "e", newRunId: "new e" },
  ]);
});

test("at most three requests are sent at once", async () => {
  const pending: (() => void)[] = [];
  const act = () => new Promise<undefined>((resolve) => pending.push(() => resolve(undefined)));
  const acted = actOnRuns(["a", "b", "c", "d"], act, never);
  expect(pending).toHaveLength(3);
  pending[0]?.();
  await expect.poll(() => pending.length).toBe(4);
  for (const answer of pending) answer();
  expect(await acted).toHaveLength(4);
});

test("what was not tried when the page was left is not reported as done", async () => {
  const leaving = new AbortController();
  const act = () => {
    leaving.abort();
    return Promise.resolve(undefined);
  };
  const results = await actOnRuns(["a", "b"], act, leaving.signal);
  expect(results.map(({ problem }) => problem)).toEqual([undefined, "not tried"]);
});
