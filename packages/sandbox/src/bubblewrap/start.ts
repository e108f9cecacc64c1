import type { ChildProcess, IOType } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { devNull } from "node:os";
import process from "node:process";
import type { Duplex, Readable, Writable } from "node:stream";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { descriptors } from "./spec.ts";
import type { Identity } from "../host/identity.ts";
import { inheritedDescriptors } from "./inherited-descriptors.ts";

/** How long bwrap may take to tell of its first process; it does so at once. */
const killMs = 2_000;
/** How long output may take to drain once bwrap is gone; its processes went with it. */
const drainMs = 2_000;
const maxComplaint = 2_000;

/** A running bwrap and the ends of its descriptors that are ours. */
export interface BwrapProcess {
  readonly input: Writable;
  readonly output: Readable;
  /** Id of the first process of the sandbox, which waits to be let in. Undefined when bwrap ended before. */
  readonly firstProcess: Promise<number | undefined>;
  /** Lets the sandbox be made. */
  resume(): void;
  /** Ends the sandbox at whatever point it is. */
  kill(): Promise<void>;
  /** Resolves when bwrap is gone and its output is read: what it complained of. */
  readonly ended: Promise<string>;
}

/** Starts bwrap with an empty environment, so that nothing of ours is to be found in `/proc`. Throws a Failure. */
export async function startBwrap(
  program: string,
  args: readonly string[],
  identity: Identity,
  seccomp: Uint8Array,
): Promise<BwrapProcess> {
  const child = spawnAlone(program, args, identity);
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

/** Of our descriptors it gets pipes of its own, and nothing in place of those that we would pass on unasked. */
function spawnAlone(program: string, args: readonly string[], identity: Identity): ChildProcess {
  const pipes = Array.from({ length: descriptors.block + 1 }, () => "pipe" as const);
  const nothing = openSync(devNull, "r+");
  const stdio: (IOType | number)[] = [...pipes];
  for (const descriptor of inheritedDescriptors()) {
    if (descriptor < pipes.length) continue;
    while (stdio.length < descriptor) stdio.push("ignore");
    stdio[descriptor] = nothing;
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
    closeSync(nothing);
  }
}

function notStarted(program: string, cause: unknown): Failure {
  const problem = `the sandbox could not be started: ${program} did not run`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause });
}

/**
 * Ends the first process of the sandbox, and with it all others, before bwrap itself: a sandbox that is still being made
 * does not end with bwrap, and would wait for it for ever.
 */
async function kill(child: ChildProcess, firstProcess: Promise<number | undefined>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), killMs);
  const first = await Promise.race([firstProcess, late]);
  clearTimeout(timer);
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (first !== undefined && parentOf(first) === child.pid) process.kill(first, "SIGKILL");
  child.kill("SIGKILL");
}

/** Ids of processes are used again, so that one is only ended as long as it is bwrap's child. */
function parentOf(pid: number): number | undefined {
  try {
    const [, parent] = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(parent);
  } catch {
    return undefined;
  }
}

async function endOf(child: ChildProcess, exited: Promise<unknown[]>): Promise<string> {
  const complaint = firstWords(pipeOf(child, 2));
  await exited;
  const open = [1, 2].map((index) => pipeOf(child, index)).filter((each) => !each.closed);
  // One that breaks is closed as well.
  const closed = Promise.allSettled(open.map((each) => once(each, "close")));
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, drainMs);
  await Promise.race([closed, late]);
  clearTimeout(timer);
  for (const each of child.stdio) each?.destroy();
  return complaint();
}

/** Only bwrap itself writes there, before the agent begins. */
function firstWords(stderr: Readable): () => string {
  let text = "";
  stderr.on("data", (chunk: Buffer) => {
    if (text.length < maxComplaint) text += chunk.toString();
  });
  return () => text.trim().slice(0, maxComplaint);
}

/** bwrap tells of its child as JSON, in one or more writes. */
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

/** Every descriptor is a pipe, which Node makes a socket: it reads and writes. */
function pipeOf(child: ChildProcess, index: number): Duplex {
  return child.stdio[index] as Duplex;
}
