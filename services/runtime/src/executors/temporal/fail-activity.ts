import type { LostRun } from "./release-lost-runs.ts";
import type { WorkflowService } from "./sdk.ts";

export type { WorkflowService } from "./sdk.ts";

/** Code of gRPC for what does not exist. */
const notFound = 5;
/** `PENDING_ACTIVITY_STATE_STARTED` of Temporal: a worker has it. */
const started = 2;
/** The delay before the next attempt, which no worker has to wait for. Zero would be the delay of the retry policy. */
const retryNanos = 1_000_000;

/**
 * Fails the attempt of a dead worker to own a run, which makes Temporal give the run to another one at once. Does nothing if the worker does
 * not have it in Temporal: another worker has it, or the workflow has ended.
 */
export async function failActivity(
  service: WorkflowService,
  namespace: string,
  { worker, run: workflowId }: LostRun,
): Promise<void> {
  try {
    const execution = { workflowId };
    const described = await service.describeWorkflowExecution({ namespace, execution });
    for (const { activityId, state, lastWorkerIdentity } of described.pendingActivities ?? []) {
      if (state !== started || lastWorkerIdentity !== worker) continue;
      const { runId } = described.workflowExecutionInfo?.execution ?? {};
      const failure = {
        message: `the worker ${worker} is dead`,
        source: "reeve",
        applicationFailureInfo: { type: "worker_dead", nextRetryDelay: { nanos: retryNanos } },
      };
      const attempt = { namespace, workflowId, runId, activityId, failure };
      await service.respondActivityTaskFailedById(attempt);
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === notFound;
}
