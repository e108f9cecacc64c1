import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import type { Identity } from "./identity.ts";
import { systemProgram } from "./system-view.ts";

/** A call that is shorter than this is not measured. */
const intervalMs = 400;
const blockBytes = 512;

export interface DiskLimit {
  readonly folder: string;
  readonly bytes: number;
  readonly files: number;
}

/**
 * Resolves with true once the folder holds more than it may, and with false when `signal` aborts. There is no quota that
 * works everywhere, so the folder is measured again and again, with no more rights than the sandbox has.
 */
export async function isOverfull(
  limit: DiskLimit,
  identity: Identity,
  signal: AbortSignal,
): Promise<boolean> {
  const find = systemProgram("find");
  if (find === undefined) return false;
  try {
    for (;;) {
      await wait(intervalMs, undefined, { signal });
      if (await exceeds(find, limit, identity, signal)) return true;
    }
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

async function exceeds(
  find: string,
  { folder, bytes, files }: DiskLimit,
  identity: Identity,
  signal: AbortSignal,
): Promise<boolean> {
  const child: ChildProcess = spawn(find, [folder, "-xdev", "-printf", "%b\\n"], {
    cwd: "/",
    env: {},
    stdio: ["ignore", "pipe", "ignore"],
    signal,
    ...(identity.isDedicated && { uid: identity.uid, gid: identity.gid }),
  });
  child.on("error", () => undefined);
  if (child.stdout === null) return false;
  let used = 0;
  let count = 0;
  for await (const blocks of createInterface({ input: child.stdout })) {
    used += Number(blocks) * blockBytes;
    count++;
    if (used <= bytes && count <= files) continue;
    child.kill("SIGKILL");
    return true;
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit", { signal });
  return false;
}
