import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** Returns the refusal of a request for a thread that does not exist. */
export function noSuchThread(thread: string): Failure {
  const message = `thread ${thread} does not exist; start a run on it to create it`;
  return new Failure("not_found", ErrorReason.THREAD_NOT_FOUND, message, {
    metadata: { thread_id: thread },
  });
}

/** Returns the refusal of a run on a deleted thread. */
export function deletedThread(thread: string): Failure {
  const message = `thread ${thread} was deleted; choose another id`;
  return new Failure("not_found", ErrorReason.THREAD_NOT_FOUND, message, {
    metadata: { thread_id: thread },
  });
}

/** Returns the refusal of a request that requires an idle thread; `remedy` says what the client can do. */
export function busyThread(thread: string, runId: string, remedy: string): Failure {
  return new Failure(
    "precondition",
    ErrorReason.THREAD_BUSY,
    `thread ${thread} is busy with run ${runId}; ${remedy}`,
    { metadata: { thread_id: thread, run_id: runId } },
  );
}

/** Returns the refusal of a run that exceeds the limit of waiting runs. */
export function fullThread(thread: string, waiting: number): Failure {
  return new Failure(
    "exhausted",
    ErrorReason.THREAD_QUEUE_FULL,
    `thread ${thread} has ${waiting} waiting runs, which is its limit; wait for some to end, or cancel them`,
    { metadata: { thread_id: thread } },
  );
}

/** Returns the refusal of a request whose id was used for a different request. */
export function reusedRequestId(requestId: string, runId: string): Failure {
  return new Failure(
    "exists",
    ErrorReason.REQUEST_ID_REUSED,
    `request id ${requestId} was used for run ${runId} with a different request; choose a new id`,
    { metadata: { run_id: runId } },
  );
}
