import type { RemoteTaskKey, RunPorts } from "../../ports/run-ports.ts";

/** How long a remote agent may take to cancel a task. */
const cancelMs = 5_000;

/** Cancels tasks of agents at endpoints. One that does not answer delays the caller by at most five seconds, and is only logged. */
export async function cancelRemoteTasks(
  tasks: readonly RemoteTaskKey[],
  { remoteAgents, logger }: Pick<RunPorts, "remoteAgents" | "logger">,
  signal: AbortSignal,
): Promise<void> {
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
