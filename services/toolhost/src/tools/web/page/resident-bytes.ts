import { readFileSync } from "node:fs";

/** Returns the memory that a process has now; 0 if it has ended, or where the system has no `/proc`. */
export function residentBytes(pid: number | undefined): number {
  if (pid === undefined) return 0;
  try {
    const [, kibibytes = "0"] =
      /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kibibytes) * 1_024;
  } catch {
    return 0;
  }
}
