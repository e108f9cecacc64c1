import { threadIdOf } from "@reeve/contracts/workspace-id";
import { emptyTail } from "@reeve/jetstream/log/port";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { isTerminal } from "@reeve/run/head/run-status";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { ThreadLog } from "@reeve/jetstream/log/thread-log";
import { emptyThread, foldThread, openTurns } from "@reeve/run/thread/thread-state";
import type { WorkspaceKey } from "@reeve/calls/ports/workspaces";
import type { WorkspacePorts } from "./workspace-ports.ts";

/** By what is known whether runs go on. */
export interface OpenRunsPorts extends Pick<WorkspacePorts, "stateOfRun"> {
  readonly runs: Pick<RunLog, "read">;
  readonly threads: Pick<ThreadLog, "read">;
}

/**
 * Whether a run goes on whose files a workspace has, or may have: a run may wait for a person for longer than anything is
 * kept. What no index knows is looked up in the logs. Throws a Failure of kind `unavailable` when they cannot be read.
 */
export async function hasOpenRun(
  { tenant, id }: WorkspaceKey,
  ports: OpenRunsPorts,
  signal: AbortSignal,
): Promise<boolean> {
  const thread = threadIdOf(id);
  if (thread === undefined) return await isOpen(tenant, id, ports, signal);
  const { events } = await ports.threads.read({ tenant, thread }, emptyTail, signal);
  for (const { runId } of openTurns(foldThread(emptyThread, events))) {
    if (await isOpen(tenant, runId, ports, signal)) return true;
  }
  return false;
}

async function isOpen(
  tenant: string,
  run: string,
  { stateOfRun, runs }: OpenRunsPorts,
  signal: AbortSignal,
): Promise<boolean> {
  const standing = await stateOfRun(tenant, run, signal);
  if (standing !== "unknown") return standing === "open";
  const { events } = await runs.read({ tenant, run }, emptyTail, signal);
  return events.length > 0 && !isTerminal(foldHead(emptyHead, events).status);
}
