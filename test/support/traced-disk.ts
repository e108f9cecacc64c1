import { readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { findProgram } from "@reeve/platform/nats/nats-server";

/** Whether programs can be started on a `TracedDisk`. */
export const canTraceDisks = findProgram("strace") !== undefined;

const traced = "openat,pwrite64,ftruncate,fsync,fdatasync,renameat,unlinkat";
const endTimeoutMs = 20_000;
const pollMs = 20;

/** How much of a file was written, and how much of that is on the disk whatever happens, in bytes. */
interface FileLengths {
  written: number;
  synced: number;
}

/**
 * The writes of a program to its disk, by its system calls. Knows what a power failure would take away: whatever the program
 * wrote and did not sync. Directories count as synced.
 */
export class TracedDisk {
  readonly #file: string;

  /** `file` receives the trace. */
  constructor(file: string) {
    this.#file = file;
  }

  /** The command before the one of the program. It keeps the process id and the parent of the program. */
  get command(): readonly string[] {
    rmSync(this.#file, { force: true });
    const options = ["-D", "-f", "--seccomp-bpf", "-q", "-y", "-s", "0", "-e", "signal=KILL"];
    const output = ["-e", `trace=${traced}`, "-o", this.#file, "--"];
    return [findProgram("strace") ?? "strace", ...options, ...output];
  }

  /** Removes what the program, which was killed, had not synced. Returns the number of bytes. */
  async losePower(): Promise<number> {
    let lost = 0;
    for (const [path, { synced }] of fileLengths(await this.#wholeTrace())) {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      if (size <= synced) continue;
      truncateSync(path, synced);
      lost += size - synced;
    }
    return lost;
  }

  /** Returns the trace when it has the end of the program. */
  async #wholeTrace(): Promise<string> {
    const deadline = AbortSignal.timeout(endTimeoutMs);
    for (;;) {
      const trace = readFileSync(this.#file, "utf8");
      const [program = ""] = trace.split(" ", 1);
      if (new RegExp(`^${program} +\\+\\+\\+ `, "m").test(trace)) return trace;
      deadline.throwIfAborted();
      await wait(pollMs, undefined, { signal: deadline });
    }
  }
}

/** Returns how much of each file a program wrote and synced, from a trace of its system calls by `strace -f -y -s 0`. */
export function fileLengths(trace: string): ReadonlyMap<string, Readonly<FileLengths>> {
  const files = new Map<string, FileLengths>();
  for (const line of trace.split("\n")) {
    noteOpen(files, line);
    noteWrite(files, line);
    noteTruncation(files, line);
    noteRename(files, line);
    files.delete(/ unlinkat\([^"]*"(.+?)"/.exec(line)?.[1] ?? "");
    const synced = files.get(/ f(?:data)?sync\(\d+<(.+?)>/.exec(line)?.[1] ?? "");
    // Without a traced write, a file has been written in another way.
    if (synced !== undefined) synced.synced = synced.written === 0 ? Infinity : synced.written;
  }
  return files;
}

/** A file that is emptied, and whose writes do not wait for the disk, may be empty after a power failure. */
function noteOpen(files: Map<string, FileLengths>, line: string): void {
  const [, path = "", flags = ""] = / openat\([^"]*"(.+?)", ([A-Z_|]+)/.exec(line) ?? [];
  if (!flags.includes("O_TRUNC")) return;
  files.delete(path);
  if (!/O_D?SYNC/.test(flags)) files.set(path, { written: 0, synced: 0 });
}

function noteWrite(files: Map<string, FileLengths>, line: string): void {
  const [, path = "", length, offset] =
    / pwrite64\(\d+<(.+?)>, ""\.*, (\d+), (\d+)/.exec(line) ?? [];
  if (path === "") return;
  // What was there before the first write was written before the program started.
  const known = files.get(path) ?? { written: Number(offset), synced: Number(offset) };
  const written = Math.max(known.written, Number(offset) + Number(length));
  files.set(path, { ...known, written });
}

function noteTruncation(files: Map<string, FileLengths>, line: string): void {
  const [, path = "", length] = / ftruncate\(\d+<(.+?)>, (\d+)/.exec(line) ?? [];
  const known = files.get(path);
  if (known === undefined) return;
  files.set(path, { written: Number(length), synced: Math.min(known.synced, Number(length)) });
}

function noteRename(files: Map<string, FileLengths>, line: string): void {
  const [, from = "", to = ""] = / renameat\([^"]*"(.+?)", [^"]*"(.+?)"/.exec(line) ?? [];
  if (from === "") return;
  for (const [path, lengths] of files) {
    if (path !== from && !path.startsWith(`${from}/`)) continue;
    files.delete(path);
    files.set(to + path.slice(from.length), lengths);
  }
}
