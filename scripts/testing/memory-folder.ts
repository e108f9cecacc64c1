import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** Where Linux mounts a file system that is in memory. */
const shared = "/dev/shm";
const tmpfsType = 0x01021994;
/** Several times what the tests that run at once store. */
const neededBytes = 4 * 1024 ** 3;
const name = /^reeve-test-(\d+)-/;

/**
 * Creates a folder in memory, which is deleted when this process exits. Undefined: this machine has no such file system with enough room.
 * Deletes the folders of processes that were killed.
 */
export function memoryFolder(): string | undefined {
  if (!hasRoom()) return undefined;
  for (const found of readdirSync(shared)) {
    const pid = name.exec(found)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) remove(join(shared, found));
  }
  const path = mkdtempSync(join(shared, `reeve-test-${process.pid}-`));
  // Like /tmp: tests of the sandboxes run programs as other users.
  chmodSync(path, 0o1777);
  process.on("exit", () => remove(path));
  return path;
}

function hasRoom(): boolean {
  try {
    const { type, bsize, bavail } = statfsSync(shared);
    return type === tmpfsType && bsize * bavail >= neededBytes;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    // A process that a test left behind may still write into it.
    console.error(`${path} was not deleted:`, error);
  }
}
