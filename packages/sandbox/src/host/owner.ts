import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";

const processes = "/proc";
/** What is said of a process that is not there, or ends while it is looked at. */
const absent = new Set<unknown>(["ENOENT", "ESRCH"]);

/**
 * A name for a process of this machine that no later process has: its id, and when it began. It stands in the names of
 * what a toolhost makes, so that others can tell whether its maker still lives.
 */
export function ownerName(pid: number = process.pid): string | undefined {
  const began = startOf(pid, processes);
  return began === undefined || began === "unknown" ? undefined : `${pid}.${began}`;
}

/** Where ids of processes mean the same as here: this start of this machine, and this namespace of processes. */
export function machineId(): string {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return `${hostname()}/${boot}/${readlinkSync("/proc/self/ns/pid")}`;
}

/** The same as a name for folders. */
export function machineIdHash(): string {
  return createHash("sha256").update(machineId()).digest("hex").slice(0, 12);
}

/**
 * Whether the process of such a name is gone. Of another name nothing is known, and neither of a process that may not be
 * looked at, so that they are left alone.
 */
export function isOwnerGone(owner: string, proc = processes): boolean {
  const [, pid, began] = /^(\d+)\.(\d+)$/.exec(owner) ?? [];
  if (pid === undefined) return false;
  const found = startOf(Number(pid), proc);
  return found !== "unknown" && found !== began;
}

/** When a process began: `unknown` where that may not be seen, undefined when there is none. */
function startOf(pid: number, proc: string): string | undefined {
  try {
    // The name of a program may have spaces; what comes after its bracket has none.
    return readFileSync(join(proc, String(pid), "stat"), "utf8")
      .split(") ")
      .at(-1)
      ?.split(" ")[19];
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && absent.has(error.code);
    return isAbsent ? undefined : "unknown";
  }
}
