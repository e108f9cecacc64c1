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
 * works everywhere, so the folder is measured again and again, with no more rights than the sandbox has. What lies in folders
 * that it has closed to itself for longer than one measurement cannot be told, and counts as too much.
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
      await wait(intervalMs, undefined, { signal });
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
  /** Whether there are folders that could not be looked into. */
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
  if (child.stdout === null || child.stderr === null) throw new Error("both are pipes");
  let isClosed = false;
  // Each complaint is one write; files that go away meanwhile are complained of as well.
  child.stderr.on("data", (said: Buffer) => {
    isClosed ||= said.includes("Permission denied");
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
