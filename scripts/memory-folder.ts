import { mkdtempSync, rmSync, statfsSync } from "node:fs";

/** Linux mounts a file system here that is in memory. */
const shared = "/dev/shm";
const tmpfsType = 0x01021994;
/** Several times what the stores of the tests that run at once hold. */
const neededBytes = 4 * 1024 ** 3;

/**
 * A new folder in memory, which is deleted with everything in it when it is disposed. Undefined if this machine has none with
 * enough room.
 */
export function memoryFolder(): (Disposable & { readonly path: string }) | undefined {
  if (!hasRoom()) return undefined;
  const path = mkdtempSync(`${shared}/reeve-test-`);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

function hasRoom(): boolean {
  try {
    const { type, bsize, bavail } = statfsSync(shared);
    return type === tmpfsType && bsize * bavail >= neededBytes;
  } catch {
    return false;
  }
}
