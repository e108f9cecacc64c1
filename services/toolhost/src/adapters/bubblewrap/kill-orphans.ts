import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";

/**
 * Ends what is left of a sandbox whose bubblewrap was killed. Its first process asks the kernel to end with bubblewrap; one
 * that was killed before it came to that would live on, and everything in its namespace with it. It is found by its
 * arguments, which name the sandbox.
 */
export function killOrphans(hostname: string): void {
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      if (readFileSync(`/proc/${name}/cmdline`, "utf8").includes(`\0${hostname}\0`)) {
        process.kill(pid, "SIGKILL");
      }
    } catch {
      // It ended by itself in between.
    }
  }
}
