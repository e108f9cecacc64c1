import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** A process as the host sees it. Ids are used again; together with its start it is one process for ever. */
export interface HostProcess {
  readonly pid: number;
  readonly startedAt: string;
}

interface Entry extends HostProcess {
  readonly parent: number;
  readonly isDead: boolean;
}

const lookAgainMs = 5;

/**
 * The processes whose command lines hold `text`, and all that come from them. What daemonizes in a sandbox becomes a child
 * of the sandbox's first process, and so stays among them.
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

/** Resolves when all of them have ended. */
export async function ended(processes: readonly HostProcess[]): Promise<void> {
  const isAlive = ({ pid, startedAt }: HostProcess) => {
    const entry = entryOf(pid);
    return entry !== undefined && entry.startedAt === startedAt && !entry.isDead;
  };
  while (processes.some(isAlive)) await wait(lookAgainMs);
}

function entryOf(pid: number): Entry | undefined {
  const stat = contentOf(`/proc/${pid}/stat`);
  if (stat === "") return undefined;
  // The name of the program, in brackets, may hold anything.
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

/** Empty when the process is gone, or is none. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
