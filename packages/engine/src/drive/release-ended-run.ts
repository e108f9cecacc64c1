import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { cancelCall } from "@reeve/run/commands/cancel-call";
import { endTurn } from "@reeve/run/thread/end-turn";
import { executionId } from "../domain/calls/execution-id.ts";
import { callsToRelease } from "../domain/next-effects.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { openTasksOf } from "../domain/delegates/open-remote-tasks.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { callKey } from "../perform/call-tool.ts";
import { cancelRemoteTasks } from "../perform/models/cancel-remote-tasks.ts";
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
  const tenant = state.head.created?.tenant ?? "";
  const tasks = openTasksOf(state).map((task) => ({ tenant, ...task }));
  await cancelRemoteTasks(tasks, ports, signal);
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

async function leaveThread(
  { head: { created, runId } }: RunState,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  if (created === undefined || created.threadId === "") return;
  const key = { tenant: created.tenant, thread: created.threadId };
  await endTurn(ports, key, runId, signal);
}
