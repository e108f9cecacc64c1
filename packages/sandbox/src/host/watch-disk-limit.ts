import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { sleep } from "@reeve/platform/async/sleep";
import type { Identity } from "./identity.ts";
import { systemProgram } from "./system-view.ts";

/** Interval between measurements. A shorter call is not measured. */
const intervalMs = 400;
const blockBytes = 512;

export interface DiskLimit {
  readonly folder: string;
  readonly bytes: number;
  readonly files: number;
}

/**
 * Resolves with true once the folder exceeds its limit, and with false when `signal` aborts. No disk quota works everywhere,
 * so the folder is measured periodically, with the rights of the sandbox and no more. A folder that is unreadable in two
 * measurements in a row counts as exceeded, because its content cannot be measured.
 */
export async function watchDiskLimit(
  limit: DiskLimit,
  identity: Identity,
  signal: AbortSignal,
): Promise<boolean> {
  const find = systemProgram("find");
  if (find === undefined) return false;
  let wasClosed = false;
  try {
    for (;;) {
      await sleep(intervalMs, signal);
      const { isOver, isClosed } = await measured(find, limit, identity, signal);
      if (isOver || (isClosed && wasClosed)) return true;
      wasClosed = isClosed;
    }
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

interface Measurement {
  readonly isOver: boolean;
  /** Whether some folders could not be read. */
  readonly isClosed: boolean;
}

async function measured(
  find: string,
  { folder, bytes, files }: DiskLimit,
  identity: Identity,
  signal: AbortSignal,
): Promise<Measurement> {
  const child: ChildProcess = spawn(find, [folder, "-xdev", "-printf", "%b\\n"], {
    cwd: "/",
    env: {},
    stdio: ["ignore", "pipe", "pipe"],
    signal,
    ...(identity.isDedicated && { uid: identity.uid, gid: identity.gid }),
  });
  child.on("error", () => undefined);
  if (child.stdout === null || child.stderr === null) throw new Error("find has no pipes");
  let isClosed = false;
  // Each message of find is one write. Other messages are about files that were deleted meanwhile.
  child.stderr.on("data", (message: Buffer) => {
    isClosed ||= message.includes("Permission denied");
  });
  let used = 0;
  let count = 0;
  for await (const blocks of createInterface({ input: child.stdout })) {
    used += Number(blocks) * blockBytes;
    count++;
    if (used <= bytes && count <= files) continue;
    child.kill("SIGKILL");
    return { isOver: true, isClosed };
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit", { signal });
  return { isOver: false, isClosed };
}
