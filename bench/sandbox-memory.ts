import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { Engine } from "@reeve/sandbox/docker/engine";

/** Returns the processes of bubblewrap sandboxes: all descendants of this process. */
export function processesOfBubblewrap(): readonly number[] {
  const parents = new Map(pids().map((pid) => [pid, parentOf(pid)]));
  const found = [process.pid];
  for (const above of found) {
    for (const [pid, parent] of parents) if (parent === above) found.push(pid);
  }
  return found.slice(1);
}

/** Returns the processes of containers, with the engine's processes for each. */
export async function processesOfContainers(
  address: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly number[]> {
  const engine = new Engine(address);
  const found: number[] = [];
  for (const name of names) {
    const container = (await engine.get(`/containers/${name}/json`, signal)) as {
      readonly State: { readonly Pid: number };
    };
    const { Pid: pid } = container.State;
    found.push(pid, parentOf(pid));
  }
  return found;
}

/** Returns the memory of processes, with shared pages counted proportionally. */
export function proportionalBytes(processes: readonly number[]): number {
  const bytes = processes.map((pid) => {
    try {
      const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
      return Number(/^Pss: +(\d+) kB/m.exec(text)?.[1] ?? 0) * 1_024;
    } catch {
      // It ended after it was found.
      return 0;
    }
  });
  return bytes.reduce((sum, each) => sum + each, 0);
}

function pids(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
