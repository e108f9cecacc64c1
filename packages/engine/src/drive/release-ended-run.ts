import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { cancelCall } from "@reeve/run/commands/cancel-call";
import { endTurn } from "@reeve/run/thread/end-turn";
import { executionId } from "../domain/calls/execution-id.ts";
import { callsToRelease } from "../domain/next-effects.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { workingAgent } from "../domain/delegates/working-agent.ts";
import type { RemoteTaskKey, RunPorts } from "../ports/run-ports.ts";
import { callKey } from "../perform/call-tool.ts";
import { statusName } from "@reeve/run/head/run-status";

/**
 * Cancels the open calls of an ended run, and ends its turn in its thread so that the thread's next run can start. May be
 * repeated.
 */
export async function releaseEndedRun(
  state: RunState,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  await cancelOpenCalls(state, ports, signal);
  await cancelRemoteTasks(state, ports, signal);
  await leaveThread(state, ports, signal);
}

/** Cancels the calls without a result. One that waits never starts; the toolhost ends one in progress. */
async function cancelOpenCalls(
  state: RunState,
  { journal, clock }: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  const reason = `the run ended: ${statusName(state.head.status)}`;
  const cancellation = { reason, time: timestampFromMs(clock.now()) };
  await Promise.all(
    callsToRelease(state).map((call) =>
      cancelCall(journal, callKey(state, executionId(call)), cancellation, signal),
    ),
  );
}

/** How long a remote agent may take to cancel a task. */
const cancelMs = 5_000;

/** Cancels the tasks that agents at endpoints still have. One that does not answer delays the end of the run, and does not prevent it. */
async function cancelRemoteTasks(
  state: RunState,
  { remoteAgents, logger }: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  const tasks = remoteTasks(state);
  if (remoteAgents === undefined || tasks.length === 0) return;
  const until = AbortSignal.any([signal, AbortSignal.timeout(cancelMs)]);
  await Promise.all(
    tasks.map((task) =>
      remoteAgents.cancel(task, until).catch((error: unknown) => {
        signal.throwIfAborted();
        logger.warn({ err: error, ...task }, "a task of a remote agent was not canceled");
      }),
    ),
  );
}

/** Returns the tasks that agents at endpoints have not ended, as far as the log says. */
function remoteTasks(state: RunState): readonly RemoteTaskKey[] {
  const tenant = state.head.created?.tenant ?? "";
  return [...state.frames.values()].flatMap((frame) => {
    const taskId = frame.remote?.taskId ?? "";
    const url = workingAgent(state, frame).spec?.endpoint?.url;
    return taskId === "" || url === undefined ? [] : [{ tenant, url, taskId }];
  });
}

async function leaveThread(
  { head: { created, runId } }: RunState,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  if (created === undefined || created.threadId === "") return;
  const key = { tenant: created.tenant, thread: created.threadId };
  await endTurn(ports, key, runId, signal);
}
