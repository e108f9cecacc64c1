import type { ChildProcess, StdioOptions } from "node:child_process";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import type { Readable } from "node:stream";
import type { Command, ExecEnd, ExecEvent, ExecStream, Sandbox } from "../../ports/sandbox.ts";
import { bubblewrapArguments, limitArguments } from "./bubblewrap-arguments.ts";
import { killOrphans } from "./kill-orphans.ts";

/** Who runs a sandbox on the host: never root. */
export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

export interface BubblewrapPrograms {
  readonly bwrap: string;
  /** Sets limits of the kernel inside the sandbox, before the command starts. */
  readonly prlimit: string;
  /** File with the filter of system calls. */
  readonly seccompFile: string;
  /** Undefined: the user of this process, who is not root. */
  readonly user: SandboxUser | undefined;
}

const seccompFd = 4;
const streams: readonly (readonly [index: number, stream: ExecStream])[] = [
  [1, "stdout"],
  [2, "stderr"],
  [3, "report"],
];

/** One bubblewrap a command: whatever a command starts ends with it, because its process namespace does. */
export function bubblewrapSandbox(workspaceDir: string, programs: BubblewrapPrograms): Sandbox {
  return {
    isolation: "bubblewrap",
    exec: (command, signal) => exec(workspaceDir, programs, command, signal),
  };
}

async function* exec(
  workspaceDir: string,
  programs: BubblewrapPrograms,
  command: Command,
  signal: AbortSignal,
): AsyncIterable<ExecEvent> {
  const startedAt = performance.now();
  const hostname = `sandbox-${randomBytes(9).toString("hex")}`;
  const child = start(workspaceDir, programs, command, hostname);
  const events: ExecEvent[] = [];
  let wake = Promise.withResolvers<void>();
  let stopped: ExecEnd["reason"] | undefined;
  let written = 0;
  const stop = (reason: ExecEnd["reason"]) => {
    stopped ??= reason;
    child.kill("SIGKILL");
  };
  const cancel = () => stop("cancelled");
  const late = setTimeout(() => stop("timeout"), command.timeoutMs);
  for (const [index, stream] of streams) {
    // All three are pipes.
    (child.stdio[index] as Readable).on("data", (bytes: Buffer) => {
      written += bytes.length;
      if (written > command.outputBytes) return stop("output_limit");
      events.push({ kind: "out", stream, bytes });
      wake.resolve();
    });
  }
  const finish = (reason: ExecEnd["reason"], code: number | null, complaint: string) => {
    const durationMs = performance.now() - startedAt;
    events.push({ kind: "end", end: { reason, code: code ?? undefined, complaint, durationMs } });
    wake.resolve();
  };
  child.once("error", (error) => finish("sandbox_lost", null, error.message));
  child.once("exit", () => {
    if (stopped !== undefined) killOrphans(hostname);
  });
  child.once("close", (code) => finish(stopped ?? (code === null ? "signal" : "exit"), code, ""));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(command.stdin);
  try {
    for (;;) {
      const event = events.shift();
      if (event === undefined) {
        await wake.promise;
        wake = Promise.withResolvers();
      } else {
        yield event;
        if (event.kind === "end") return;
      }
    }
  } finally {
    clearTimeout(late);
    signal.removeEventListener("abort", cancel);
    child.kill("SIGKILL");
  }
}

function start(
  workspaceDir: string,
  { bwrap, prlimit, seccompFile, user }: BubblewrapPrograms,
  { argv, timeoutMs }: Command,
  hostname: string,
): ChildProcess {
  const filter = openSync(seccompFile, "r");
  const stdio: StdioOptions = ["pipe", "pipe", "pipe", "pipe", filter];
  const limits = limitArguments(prlimit, timeoutMs);
  const args = [...bubblewrapArguments(workspaceDir, hostname, seccompFd), ...limits, ...argv];
  try {
    // An empty environment: what this process knows must not be found in the sandbox, nor in its parent's.
    return spawn(bwrap, args, { stdio, env: {}, cwd: "/", ...user });
  } finally {
    closeSync(filter);
  }
}
