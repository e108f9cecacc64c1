import { threadIdOf } from "@reeve/contracts/workspace-id";
import { pause } from "@reeve/platform/async/patiently";
import { lastUsedMs } from "./workspace-record.ts";
import type { HeldWorkspace } from "./held-workspace.ts";
import type { WorkspaceKeeper } from "./workspace-keeper.ts";
import type { WorkspacePorts } from "./workspace-ports.ts";

/** How many runs one round asks about. */
const maxAsked = 50;
/** A run that goes on is asked about ever more seldom, down to this. */
const longestMs = 300_000;

/** Clients read in parts, and one file may go on for as long between them. */
const lookedAtForMs = 60_000;

interface Look {
  readonly dueMs: number;
  readonly delayMs: number;
}

/**
 * Every `intervalMs`, until `signal` aborts: takes workspaces away from this host, once they are saved, whose run has ended,
 * or that nobody has used for long. Whoever wants one again gets it from its snapshot.
 */
export async function evictWorkspaces(
  keeper: WorkspaceKeeper,
  ports: WorkspacePorts,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const looks = new WeakMap<HeldWorkspace, Look>();
  for (;;) {
    await pause(intervalMs, signal);
    const nowMs = ports.now();
    const due = keeper.idle.filter((held) => (looks.get(held)?.dueMs ?? 0) <= nowMs);
    for (const held of due.slice(0, maxAsked)) {
      const delayMs = Math.min((looks.get(held)?.delayMs ?? intervalMs / 2) * 2, longestMs);
      looks.set(held, { dueMs: nowMs + delayMs, delayMs });
      try {
        if (await isEvictable(held, ports, intervalMs, signal)) await keeper.evict(held, signal);
      } catch (error) {
        signal.throwIfAborted();
        ports.log.warn({ err: error, ...held.key }, "workspace not taken away; trying again");
      }
    }
  }
}

/** Whether a workspace is to be taken away: its run has ended, or nobody has used it for long. */
export async function isEvictable(
  { key, record, isUnsaved, clientAccessMs }: HeldWorkspace,
  ports: WorkspacePorts,
  intervalMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const restedMs = ports.now() - lastUsedMs(record);
  if (restedMs > ports.limits.keepMs && !isUnsaved) return true;
  // A client may read its files right after the end, and what it reads in parts must stay the same file.
  if (restedMs < intervalMs || threadIdOf(key.id) !== undefined) return false;
  if (ports.now() - clientAccessMs < lookedAtForMs) return false;
  return (await ports.stateOfRun(key.tenant, key.id, signal)) === "ended";
}
