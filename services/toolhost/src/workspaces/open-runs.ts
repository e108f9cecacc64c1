import type { WorkspaceKey } from "@reeve/calls/ports/workspaces";
import { RunLiveness } from "@reeve/contracts/toolhost";
import { threadIdOf } from "@reeve/contracts/workspace-id";
import { retryIdOf } from "@reeve/run/commands/run-id";
import type { Liveness } from "@reeve/run/liveness/liveness";
import type { WorkspacePorts } from "./workspace-ports.ts";

/** Where to look up whether runs are open. */
export interface OpenRunsPorts extends Pick<WorkspacePorts, "stateOfRun"> {
  readonly liveness: Liveness;
}

/**
 * Whether a run with files in a workspace is open, or may be: a run may wait for a person for longer than anything is
 * retained. Asks a service that reads the logs where the index does not know. Throws a Failure of kind `unavailable` when none
 * answers.
 */
export async function hasOpenRun(
  { tenant, id }: WorkspaceKey,
  ports: OpenRunsPorts,
  signal: AbortSignal,
): Promise<boolean> {
  const thread = threadIdOf(id);
  if (thread === undefined) return await isOpenOrRetried(tenant, id, ports, signal);
  for (const run of await ports.liveness.openTurns(tenant, thread, signal)) {
    if (await isOpen(tenant, run, ports, signal)) return true;
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
  { stateOfRun, liveness }: OpenRunsPorts,
  signal: AbortSignal,
): Promise<"open" | "ended" | "missing"> {
  const listed = await stateOfRun(tenant, run, signal);
  if (listed !== "unknown") return listed;
  const logged = await liveness.ofRun(tenant, run, signal);
  if (logged === RunLiveness.MISSING) return "missing";
  return logged === RunLiveness.ENDED ? "ended" : "open";
}
