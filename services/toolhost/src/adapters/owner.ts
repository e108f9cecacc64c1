import { readFileSync } from "node:fs";
import process from "node:process";

/**
 * A name for a process of this machine that no later process has: its id, and when it began. It stands in the names of
 * what a toolhost makes, so that others can tell whether its maker still lives.
 */
export function ownerName(pid: number = process.pid): string | undefined {
  const began = startOf(pid);
  return began === undefined ? undefined : `${pid}.${began}`;
}

/** Whether the process of such a name is gone. Of another name nothing is known, so that it is left alone. */
export function isGone(owner: string): boolean {
  const [, pid] = /^(\d+)\.\d+$/.exec(owner) ?? [];
  return pid !== undefined && ownerName(Number(pid)) !== owner;
}

function startOf(pid: number): string | undefined {
  try {
    // The name of a program may have spaces; what comes after its bracket has none.
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19];
  } catch {
    return undefined;
  }
}
