import { randomUUID } from "node:crypto";
import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { steadyClock } from "@reeve/platform/async/clock";
import { every } from "@reeve/platform/async/every";

/** A lock that was not renewed for so long is that of a process that died. */
const maxAgeMs = 20_000;
const renewMs = 4_000;
const pollMs = 100;

/**
 * Waits until no other process holds the lock of a path, and takes it until it is disposed. The lock of a process that died, or stood
 * still for 20 seconds, is removed. Disposal removes the lock only if it is still that of the caller. `onWait` is called once if another
 * process holds the lock.
 */
export async function lockFile(
  path: string,
  onWait: () => void,
  signal: AbortSignal,
): Promise<AsyncDisposable> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const id = randomUUID();
  for (let isFirst = true; !take(path, id);) {
    if (isStale(path)) {
      removeStale(path, `${path}.${id}`);
      continue;
    }
    if (isFirst) onWait();
    isFirst = false;
    await steadyClock.sleep(pollMs, signal);
  }
  const renewals = every(renewMs, () => renew(path, id));
  return {
    [Symbol.asyncDispose]: () => {
      renewals[Symbol.dispose]();
      return Promise.resolve(release(path, id));
    },
  };
}

function take(path: string, id: string): boolean {
  return unless("EEXIST", () => writeFileSync(path, id, { flag: "wx", mode: 0o600 }));
}

/** Without effect if the lock cannot be renewed: it then becomes stale, and another process takes it. */
function renew(path: string, id: string): void {
  const now = new Date();
  try {
    if (readFileSync(path, "utf8") === id) utimesSync(path, now, now);
  } catch {
    // An error here would end the process, for example because another user has taken the lock meanwhile.
  }
}

function release(path: string, id: string): void {
  unless("ENOENT", () => {
    if (readFileSync(path, "utf8") === id) rmSync(path, { force: true });
  });
}

/** Whether a lock is not renewed. A time far in the future is from before the clock was set back, or from the clock of another machine. */
function isStale(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && Math.abs(Date.now() - found.mtimeMs) > maxAgeMs;
}

/** Moves a stale lock aside and removes it. One that another process has taken in the meantime is put back. */
function removeStale(path: string, aside: string): void {
  if (!unless("ENOENT", () => renameSync(path, aside))) return;
  if (!isStale(aside)) unless("EEXIST", () => linkSync(aside, path));
  rmSync(aside, { force: true });
}

/** Returns whether an action succeeds. False if it fails with `code`; throws any other error. */
function unless(code: string, action: () => void): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === code) return false;
    throw error;
  }
}
