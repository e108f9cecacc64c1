import type { WorkspaceKey } from "@reeve/calls/ports/workspaces";
import { RunLiveness } from "@reeve/contracts/toolhost";
import { threadIdOf } from "@reeve/contracts/rules/workspace-id";
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

/**
 * Whether the index shows that the run of a workspace has ended, and each run that continues it there. A run that the index does
 * not list counts as none.
 */
export async function hasEndedRuns(
  { tenant, id }: WorkspaceKey,
  { stateOfRun }: Pick<WorkspacePorts, "stateOfRun">,
  signal: AbortSignal,
): Promise<boolean> {
  let state = await stateOfRun(tenant, id, signal);
  if (state !== "ended") return false;
  for (let run = retryIdOf(tenant, id); state === "ended"; run = retryIdOf(tenant, run)) {
    state = await stateOfRun(tenant, run, signal);
  }
  return state !== "open";
}

/**
 * Whether a run is open, or one that continues it in the same workspace. A run is deleted after those that continue it, except
 * for the first one when it was continued meanwhile.
 */
async function isOpenOrRetried(
  tenant: string,
  first: string,
  ports: OpenRunsPorts,
  signal: AbortSignal,
): Promise<boolean> {
  for (let run = first; ; run = retryIdOf(tenant, run)) {
    const liveness = await livenessOf(tenant, run, ports, signal);
    if (liveness === "open") return true;
    if (liveness === "missing" && run !== first) return false;
  }
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
