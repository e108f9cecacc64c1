import { closeSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { steadyClock } from "@reeve/platform/async/clock";

/** Longer than any process holds a lock: two requests to a provider, with five seconds each. */
const maxLockMs = 20_000;
const pollMs = 100;

/**
 * Waits until no other process holds the lock of a path, and takes it. The lock of a process that died is removed after 20
 * seconds.
 */
export async function lockFile(path: string, signal: AbortSignal): Promise<AsyncDisposable> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  for (;;) {
    try {
      closeSync(openSync(path, "wx", 0o600));
      return { [Symbol.asyncDispose]: () => Promise.resolve(rmSync(path, { force: true })) };
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    if (ageMs(path) > maxLockMs) rmSync(path, { force: true });
    else await steadyClock.sleep(pollMs, signal);
  }
}

function ageMs(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 0 : Date.now() - found.mtimeMs;
}
