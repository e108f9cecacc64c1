import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** Returns the path of the file that names the process that holds a data folder. */
export function lockFileOf(dataDir: string): string {
  return join(dataDir, "lock");
}

/** Returns what the lock of a folder contains while this process holds it. */
export function currentHolder(): string {
  return `${process.pid} ${startOf(process.pid) ?? ""}`;
}

/** Returns the live process that holds a data folder. The start time detects a pid that now belongs to another process. */
export function holderOf(dataDir: string): number | undefined {
  let text: string;
  try {
    text = readFileSync(lockFileOf(dataDir), "utf8");
  } catch {
    return undefined;
  }
  const [pid = "", start = ""] = text.split(" ");
  const number = Number(pid);
  return number > 0 && isAlive(number) && (startOf(number) ?? "") === start ? number : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Returns when a process started, in clock ticks since boot. Undefined on systems without /proc. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program name in parentheses, which may contain any character. The start time is field 22.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
