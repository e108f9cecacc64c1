import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** A process of the host. Ids are reused; id and start time together are unique. */
export interface HostProcess {
  readonly pid: number;
  readonly startedAt: string;
}

interface Entry extends HostProcess {
  readonly parent: number;
  readonly isDead: boolean;
}

const pollMs = 5;

/**
 * Returns the processes whose command lines contain `text`, and all their descendants. A daemon in a sandbox becomes a child of
 * the sandbox's first process, and so stays among them.
 */
export function processTree(text: string): readonly HostProcess[] {
  const all = readdirSync("/proc").flatMap((name) => entryOf(Number(name)) ?? []);
  const tree = new Set(all.filter(({ pid }) => commandLine(pid).includes(text)));
  for (;;) {
    const pids = new Set([...tree].map(({ pid }) => pid));
    const more = all.filter((entry) => pids.has(entry.parent) && !tree.has(entry));
    if (more.length === 0) return [...tree].filter(({ isDead }) => !isDead);
    for (const entry of more) tree.add(entry);
  }
}

/** Resolves when all processes have ended. */
export async function ended(processes: readonly HostProcess[]): Promise<void> {
  const isAlive = ({ pid, startedAt }: HostProcess) => {
    const entry = entryOf(pid);
    return entry !== undefined && entry.startedAt === startedAt && !entry.isDead;
  };
  while (processes.some(isAlive)) await wait(pollMs);
}

function entryOf(pid: number): Entry | undefined {
  const stat = contentOf(`/proc/${pid}/stat`);
  if (stat === "") return undefined;
  // The program's name, in brackets, may contain any character.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent = ""] = fields;
  return {
    pid,
    parent: Number(parent),
    startedAt: fields[19] ?? "",
    isDead: state === "Z" || state === "X",
  };
}

function commandLine(pid: number): string {
  return contentOf(`/proc/${pid}/cmdline`);
}

/** Empty if the process does not exist. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
