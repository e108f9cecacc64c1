import { threadIdOf } from "@reeve/contracts/rules/workspace-id";
import { sleep } from "@reeve/platform/async/sleep";
import type { HeldWorkspace } from "./held-workspace.ts";
import { hasEndedRuns } from "./open-runs.ts";
import type { WorkspaceKeeper } from "./workspace-keeper.ts";
import type { WorkspacePorts } from "./workspace-ports.ts";
import { lastUsedMs } from "./workspace-record.ts";

/** How many workspaces one round checks. */
const maxChecks = 50;
/** The delay between two checks of a workspace doubles up to this. */
const maxDelayMs = 300_000;

/** How long files stay after a client accessed them: clients read in parts, and the parts must be of one file. */
const clientAccessKeepMs = 60_000;

interface Check {
  readonly dueMs: number;
  readonly delayMs: number;
}

/**
 * Every `intervalMs`, until `signal` aborts: saves workspaces whose run has ended, or that were idle for long, and removes them
 * from this host. They are restored from their snapshots when they are needed again.
 */
export async function evictWorkspaces(
  keeper: WorkspaceKeeper,
  ports: WorkspacePorts,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const checks = new WeakMap<HeldWorkspace, Check>();
  for (;;) {
    await sleep(intervalMs, signal);
    const nowMs = ports.now();
    const due = keeper.idle.filter((held) => (checks.get(held)?.dueMs ?? 0) <= nowMs);
    for (const held of due.slice(0, maxChecks)) {
      const delayMs = Math.min((checks.get(held)?.delayMs ?? intervalMs / 2) * 2, maxDelayMs);
      checks.set(held, { dueMs: nowMs + delayMs, delayMs });
      try {
        if (await isEvictable(held, ports, intervalMs, signal)) await keeper.evict(held, signal);
      } catch (error) {
        signal.throwIfAborted();
        ports.log.warn({ err: error, ...held.key }, "workspace was not evicted; trying again");
      }
    }
  }
}

/** Whether a workspace should leave this host: its run has ended, or it was idle for long. */
export async function isEvictable(
  { key, record, isUnsaved, clientAccessMs }: HeldWorkspace,
  ports: WorkspacePorts,
  intervalMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const idleMs = ports.now() - lastUsedMs(record);
  if (idleMs > ports.limits.keepMs && !isUnsaved) return true;
  // A client may read the files right after the end of the run, in parts that must be of one file.
  if (idleMs < intervalMs || threadIdOf(key.id) !== undefined) return false;
  if (ports.now() - clientAccessMs < clientAccessKeepMs) return false;
  return await hasEndedRuns(key, ports, signal);
}
