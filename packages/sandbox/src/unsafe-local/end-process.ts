import type { ChildProcess } from "node:child_process";
import process from "node:process";

/** How long an agent may take to end what runs and then itself, and then the kernel to end the agent. */
const patienceMs = 3_000;

/**
 * Ends an agent. Without its pipe it ends what runs, and then itself, for which it must not be stopped; what code does to
 * it may keep it from that, so that after a while the kernel ends it. Resolves when it is gone, or not to be ended.
 */
export async function endProcess(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.stdin?.destroy();
  tell(child, "SIGCONT");
  if (await isSoon(ended)) return;
  tell(child, "SIGKILL");
  await isSoon(ended);
}

/** To its whole group, which it leads. */
function tell({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended since.
  }
}

async function isSoon(ended: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), patienceMs);
  const isEnded = await Promise.race([ended.then(() => true), late]);
  clearTimeout(timer);
  return isEnded;
}
