import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** The refusal of what asks for a thread that there is not. */
export function noSuchThread(thread: string): Failure {
  const message = `there is no thread ${thread}; it comes to be with the first run that is started on it`;
  return new Failure("not_found", ErrorReason.THREAD_NOT_FOUND, message, {
    metadata: { thread_id: thread },
  });
}

/** The refusal of a run on a thread that was deleted. */
export function deletedThread(thread: string): Failure {
  const message = `thread ${thread} was deleted; choose another id`;
  return new Failure("not_found", ErrorReason.THREAD_NOT_FOUND, message, {
    metadata: { thread_id: thread },
  });
}

/** The refusal of what cannot be done while a run has its turn, or waits for it; `waysOut` says what can. */
export function busyThread(thread: string, runId: string, waysOut: string): Failure {
  return new Failure(
    "precondition",
    ErrorReason.THREAD_BUSY,
    `thread ${thread} is busy with run ${runId}; ${waysOut}`,
    { metadata: { thread_id: thread, run_id: runId } },
  );
}

/** The refusal of a run for which there is no room among those that wait. */
export function fullThread(thread: string, waiting: number): Failure {
  return new Failure(
    "exhausted",
    ErrorReason.THREAD_QUEUE_FULL,
    `${waiting} runs wait for their turn in thread ${thread}; wait for some to end, or cancel them`,
    { metadata: { thread_id: thread } },
  );
}

/** The refusal of a request whose id has another run already. */
export function reusedRequestId(requestId: string, runId: string): Failure {
  return new Failure(
    "exists",
    ErrorReason.REQUEST_ID_REUSED,
    `request id ${requestId} was used for run ${runId} with another request; choose a new id`,
    { metadata: { run_id: runId } },
  );
}
