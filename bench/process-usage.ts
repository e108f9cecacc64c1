import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100;
const pageBytes = 4096;

/** CPU time that a process and its descendants have used, and their current memory. */
export interface Usage {
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** The memory of the process without its descendants, such as the MCP servers of a toolhost. */
  readonly ownRssBytes: number;
}

/** Returns CPU time and memory of the process `root` and all its descendants. */
export function usageOf(root: number): Usage {
  let cpuMs = 0;
  let rssBytes = 0;
  let ownRssBytes = 0;
  for (const pid of descendants(root)) {
    const fields = statOf(pid);
    cpuMs += ((Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / ticksPerSecond) * 1_000;
    const bytes = Number(fields[21] ?? 0) * pageBytes;
    rssBytes += bytes;
    if (pid === root) ownRssBytes = bytes;
  }
  return { cpuMs, rssBytes, ownRssBytes };
}

function descendants(root: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    parents.set(Number(name), Number(statOf(Number(name))[1]));
  }
  const found = [root];
  for (const parent of found) {
    for (const [child, of] of parents) if (of === parent) found.push(child);
  }
  return found;
}

/** Returns the fields of /proc/<pid>/stat after the name, which may contain spaces. Empty if the process has ended. */
function statOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  } catch {
    return [];
  }
}
