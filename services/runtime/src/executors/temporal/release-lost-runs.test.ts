import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { failActivity } from "./fail-activity.ts";
import type { LostRun } from "./release-lost-runs.ts";
import { releaseLostRuns } from "./release-lost-runs.ts";
import type { PendingActivity, WorkflowService } from "./sdk.ts";

const log = createLogger("test", "silent");
const lost: LostRun = { worker: "runtime-1", run: "run_1" };

// Requirement: DUR-3
test("the runs of a worker that is dead and stays away are released, also when Temporal answers late, and the store fails in between", async () => {
  const end = new AbortController();
  const released: string[] = [];
  let [follows, attempts] = [0, 0];
  async function* lostRuns() {
    if (follows++ === 0) {
      yield { worker: "alive", runs: ["run_0"] };
      yield { worker: "back", runs: ["run_4"] };
      yield { worker: "runtime-1", runs: ["run_1", "run_2"] };
      throw new Error("the store is lost");
    }
    if (follows === 2) yield { worker: "runtime-2", runs: ["run_3"] };
  }
  const attemptsOfBack: string[] = [];
  let probesOfBack = 0;
  const endIfAll = () => void (released.length === 3 && probesOfBack > 1 && end.abort());
  const fateOf = (worker: string) => {
    if (worker !== "back") return worker === "alive" ? "alive" : "crashed";
    // It is connected again while Temporal is away.
    if (++probesOfBack > 1) setImmediate(endIfAll);
    return probesOfBack === 1 ? "crashed" : "alive";
  };
  const release = async ({ worker, run }: LostRun) => {
    if (worker === "back") {
      attemptsOfBack.push(run);
      throw new Error("Temporal is away");
    }
    if (attempts++ === 0) throw new Error("Temporal is away");
    released.push(`${worker} ${run}`);
    endIfAll();
  };
  const options = {
    holder: { lostRuns },
    ownerFate: async (worker: string) => fateOf(worker),
    log,
    release,
    restart: { firstDelayMs: 1, maxDelayMs: 1 },
  };
  await expect(releaseLostRuns(options, end.signal)).rejects.toThrow("aborted");
  expect(released.toSorted()).toEqual(["runtime-1 run_1", "runtime-1 run_2", "runtime-2 run_3"]);
  expect(attemptsOfBack).toEqual(["run_4"]);
});

/** Temporal with the workflow of a run. */
function temporal(pendingActivities: readonly PendingActivity[], error?: Error) {
  const failed: object[] = [];
  const service: WorkflowService = {
    async describeWorkflowExecution() {
      if (error !== undefined) throw error;
      return { workflowExecutionInfo: { execution: { runId: "execution" } }, pendingActivities };
    },
    async respondActivityTaskFailedById(request) {
      failed.push(request);
    },
  };
  return { service, failed };
}

const attempt = (activityId: string, state: number, lastWorkerIdentity: string) => ({
  activityId,
  state,
  lastWorkerIdentity,
});

// Requirement: DUR-3, DUR-4
test("only an attempt that the dead worker has fails, and the next one follows at once", async () => {
  const { service, failed } = temporal([
    attempt("1", 1, "runtime-1"),
    attempt("2", 2, "runtime-2"),
    attempt("3", 2, "runtime-1"),
  ]);
  await failActivity(service, "default", lost);
  const nextRetryDelay = { nanos: 1_000_000 };
  expect(failed).toMatchObject([
    {
      workflowId: "run_1",
      runId: "execution",
      activityId: "3",
      failure: { applicationFailureInfo: { nextRetryDelay } },
    },
  ]);
});

test("a workflow that has ended needs no release, and other errors of Temporal are thrown", async () => {
  const ended = temporal([], Object.assign(new Error("not found"), { code: 5 }));
  await expect(failActivity(ended.service, "default", lost)).resolves.toBeUndefined();
  const away = temporal([], Object.assign(new Error("away"), { code: 14 }));
  await expect(failActivity(away.service, "default", lost)).rejects.toThrow("away");
});
