import type { ChildProcess, IOType } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { devNull } from "node:os";
import process from "node:process";
import type { Duplex, Readable, Writable } from "node:stream";
import { ErrorReason } from "@reeve/contracts/error";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { settledWithin } from "@reeve/platform/async/settled-within";
import { Failure } from "@reeve/platform/failure";
import { descriptors } from "./spec.ts";
import type { Identity } from "../host/identity.ts";

/** How long a kill waits for bwrap to report its first process, which it does at once. */
const killMs = 2_000;
/** How long output may take to drain after bwrap and all its processes have ended. */
const drainMs = 2_000;
const maxComplaint = 2_000;
/** O_CLOEXEC in the flags of a descriptor in /proc. */
const closeOnExec = 0o2000000;

/** A running bwrap and our ends of its pipes. */
export interface BwrapProcess {
  readonly input: Writable;
  readonly output: Readable;
  /** Id of the first process of the sandbox, which waits for `resume`. Undefined if bwrap ended before. */
  readonly firstProcess: Promise<number | undefined>;
  /** Lets the first process continue. */
  resume(): void;
  /** Ends the sandbox, even while it starts. */
  kill(): Promise<void>;
  /** Resolves with the error output of bwrap when bwrap has ended and its output is read. */
  readonly ended: Promise<string>;
}

/**
 * Starts bwrap with an empty environment, so that `/proc` shows nothing of ours. The sandbox waits until `resume`. Throws a
 * Failure if bwrap cannot be started.
 */
export async function startBwrap(
  program: string,
  args: readonly string[],
  identity: Identity,
  seccomp: Uint8Array,
): Promise<BwrapProcess> {
  const child = spawnIsolated(program, args, identity);
  const exited = once(child, "exit");
  exited.catch(() => undefined);
  await once(child, "spawn").catch((cause: unknown) => {
    throw notStarted(program, cause);
  });
  for (const each of child.stdio) each?.on("error", () => undefined);
  pipeOf(child, descriptors.seccomp).end(seccomp);
  const firstProcess = childPid(pipeOf(child, descriptors.info));
  return {
    input: pipeOf(child, 0),
    output: pipeOf(child, 1),
    firstProcess,
    resume: () => void pipeOf(child, descriptors.block).end("\n"),
    kill: () => kill(child, firstProcess),
    ended: endOf(child, exited),
  };
}

/** Spawns bwrap with new pipes only: descriptors that it would inherit from us are replaced by /dev/null. */
function spawnIsolated(program: string, args: readonly string[], identity: Identity): ChildProcess {
  const pipes = Array.from({ length: descriptors.block + 1 }, () => "pipe" as const);
  const nullDevice = openSync(devNull, "r+");
  const stdio: (IOType | number)[] = [...pipes];
  for (const descriptor of inheritedDescriptors()) {
    if (descriptor < pipes.length) continue;
    while (stdio.length < descriptor) stdio.push("ignore");
    stdio[descriptor] = nullDevice;
  }
  try {
    return spawn(program, args, {
      cwd: "/",
      env: {},
      stdio,
      ...(identity.isDedicated && { uid: identity.uid, gid: identity.gid }),
    });
  } catch (cause) {
    throw notStarted(program, cause);
  } finally {
    closeSync(nullDevice);
  }
}

function notStarted(program: string, cause: unknown): Failure {
  const problem = `cannot start the sandbox: ${program} did not run; check that it is installed and executable`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause });
}

/**
 * Ends the first process of the sandbox, and with it all others, before bwrap itself: a sandbox that still starts does not
 * end with bwrap, and would wait for it forever.
 */
async function kill(child: ChildProcess, firstProcess: Promise<number | undefined>): Promise<void> {
  const isKnown = await settledWithin(firstProcess, killMs, neverAborts);
  const first = isKnown ? await firstProcess : undefined;
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (first !== undefined) killChildOf(child.pid, first);
  child.kill("SIGKILL");
}

/** Process ids are reused, so a process is killed only while its parent is bwrap. */
function killChildOf(parent: number | undefined, pid: number): void {
  if (parentOf(pid) !== parent) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended after its parent was read.
  }
}

/** Returns the parent of a process; undefined if the process has ended. */
function parentOf(pid: number): number | undefined {
  try {
    const [, parent] = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(parent);
  } catch {
    return undefined;
  }
}

async function endOf(child: ChildProcess, exited: Promise<unknown[]>): Promise<string> {
  const complaint = collectText(pipeOf(child, 2));
  await exited;
  const open = [1, 2].map((index) => pipeOf(child, index)).filter((each) => !each.closed);
  // A broken stream is closed as well.
  const closed = Promise.allSettled(open.map((each) => once(each, "close")));
  await settledWithin(closed, drainMs, neverAborts);
  for (const each of child.stdio) each?.destroy();
  return complaint();
}

/** Collects the error message of bwrap. Nothing else writes to standard error: bwrap does so only before it starts the agent. */
function collectText(stderr: Readable): () => string {
  let text = "";
  stderr.on("data", (chunk: Buffer) => {
    if (text.length < maxComplaint) text += chunk.toString();
  });
  return () => text.trim().slice(0, maxComplaint);
}

/** Reads the id of the first process, which bwrap reports as JSON in one or more writes. */
async function childPid(info: Readable): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  let text = "";
  info.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    const [, pid] = /"child-pid": *(\d+)\D/.exec(text) ?? [];
    if (pid !== undefined) resolve(Number(pid));
  });
  info.once("close", () => resolve(undefined));
  return await promise;
}

/** Returns a pipe of the child. Node creates pipes as sockets, so each one reads and writes. */
function pipeOf(child: ChildProcess, index: number): Duplex {
  return child.stdio[index] as Duplex;
}

/** Returns the descriptors that this process inherited and that a child would inherit. Those that Node opens are not inherited. */
function inheritedDescriptors(): readonly number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInheritable(descriptor));
}

function isInheritable(descriptor: number): boolean {
  try {
    const [, flags = "0"] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // Closed since it was listed.
    return false;
  }
}
