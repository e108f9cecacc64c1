import type { WorkspaceKey } from "@reeve/calls/ports/workspaces";
import { threadIdOf } from "@reeve/contracts/workspace-id";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { ThreadLog } from "@reeve/jetstream/log/thread-log";
import { foldRun } from "@reeve/run/commands/fold-run";
import { retryIdOf } from "@reeve/run/commands/run-id";
import { isTerminal } from "@reeve/run/head/run-status";
import { readThread } from "@reeve/run/thread/read-thread";
import type { WorkspacePorts } from "./workspace-ports.ts";

/** Where to look up whether runs are open. */
export interface OpenRunsPorts extends Pick<WorkspacePorts, "stateOfRun"> {
  readonly runs: Pick<RunLog, "read">;
  readonly threads: ThreadLog;
}

/**
 * Whether a run with files in a workspace is open, or may be: a run may wait for a person for longer than anything is
 * retained. Reads the logs where the index does not know. Throws a Failure of kind `unavailable` when they cannot be read.
 */
export async function hasOpenRun(
  { tenant, id }: WorkspaceKey,
  ports: OpenRunsPorts,
  signal: AbortSignal,
): Promise<boolean> {
  const thread = threadIdOf(id);
  if (thread === undefined) return await isOpenOrRetried(tenant, id, ports, signal);
  const { openTurns } = await readThread(ports.threads, { tenant, thread }, signal);
  for (const { runId } of openTurns) {
    if (await isOpen(tenant, runId, ports, signal)) return true;
  }
  return false;
}

/** Whether a run is open, or one that continues it in the same workspace. */
async function isOpenOrRetried(
  tenant: string,
  run: string,
  ports: OpenRunsPorts,
  signal: AbortSignal,
): Promise<boolean> {
  const liveness = await livenessOf(tenant, run, ports, signal);
  if (liveness !== "ended") return liveness === "open";
  return await isOpenOrRetried(tenant, retryIdOf(tenant, run), ports, signal);
}

async function isOpen(...run: Parameters<typeof livenessOf>): Promise<boolean> {
  return (await livenessOf(...run)) === "open";
}

async function livenessOf(
  tenant: string,
  run: string,
  { stateOfRun, runs }: OpenRunsPorts,
  signal: AbortSignal,
): Promise<"open" | "ended" | "missing"> {
  const liveness = await stateOfRun(tenant, run, signal);
  if (liveness !== "unknown") return liveness;
  const { events } = await runs.read({ tenant, run }, emptyTail, signal);
  if (events.length === 0) return "missing";
  return isTerminal((await foldRun(events, signal)).status) ? "ended" : "open";
}
