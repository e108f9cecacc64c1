import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";

const processes = "/proc";
/** Errors for a process that does not exist, or that ends during the read. */
const absent = new Set<unknown>(["ENOENT", "ESRCH"]);

/**
 * Returns a name for a process of this machine that no later process gets: its id and start time. Toolhosts put it into the
 * names of their resources, so that others can check whether the creator still runs. Undefined if the process is unknown.
 */
export function ownerName(pid: number = process.pid): string | undefined {
  const began = startOf(pid, processes);
  return began === undefined || began === "unknown" ? undefined : `${pid}.${began}`;
}

/** Returns a name for the scope in which process ids are comparable: this host, its current boot, and this PID namespace. */
export function machineId(): string {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return `${hostname()}/${boot}/${readlinkSync("/proc/self/ns/pid")}`;
}

/** Returns a hash of `machineId` that is short enough for file names. */
export function machineIdHash(): string {
  return createHash("sha256").update(machineId()).digest("hex").slice(0, 12);
}

/**
 * Returns whether the process behind an `ownerName` is gone. Returns false for any other name, and for a process that may
 * not be inspected, so that its resources are left alone.
 */
export function isOwnerGone(owner: string, proc = processes): boolean {
  const [, pid, began] = /^(\d+)\.(\d+)$/.exec(owner) ?? [];
  if (pid === undefined) return false;
  const found = startOf(Number(pid), proc);
  return found !== "unknown" && found !== began;
}

/** Returns the start time of a process, `unknown` if it may not be read, or undefined if there is no such process. */
function startOf(pid: number, proc: string): string | undefined {
  try {
    // The program name may contain spaces; the fields after its closing parenthesis do not.
    return readFileSync(join(proc, String(pid), "stat"), "utf8")
      .split(") ")
      .at(-1)
      ?.split(" ")[19];
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && absent.has(error.code);
    return isAbsent ? undefined : "unknown";
  }
}
