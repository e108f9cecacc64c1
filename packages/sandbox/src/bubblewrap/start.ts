import { once } from "node:events";
import { readFileSync } from "node:fs";
import process from "node:process";
import type { Duplex, Readable, Writable } from "node:stream";
import { ErrorReason } from "@reeve/contracts/error";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { settledWithin } from "@reeve/platform/async/settled-within";
import { Failure } from "@reeve/platform/failure";
import { descriptors } from "./spec.ts";
import type { Identity } from "../host/identity.ts";
import { spawnDirectly } from "./spawn-directly.ts";
import type { Spawner } from "./spawner.ts";
import type { StartedProcess } from "./started-process.ts";

/** How long a kill waits for bwrap to report its first process, which it does at once. */
const killMs = 2_000;
/** How long output may take to drain after bwrap and all its processes have ended. */
const drainMs = 2_000;
const maxComplaint = 2_000;

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
 * Starts bwrap with an empty environment, so that `/proc` shows nothing of ours: by a spawner if there is one that runs. The sandbox
 * waits until `resume`. Throws a Failure if bwrap cannot be started.
 */
export async function startBwrap(
  program: string,
  args: readonly string[],
  identity: Identity,
  { seccomp, spawner }: { readonly seccomp: Uint8Array; readonly spawner?: Spawner | undefined },
): Promise<BwrapProcess> {
  const count = descriptors.block + 1;
  const directly = () => spawnDirectly(program, args, identity, count);
  const spawned = spawner?.spawn(program, args, identity, count).catch(directly) ?? directly();
  const started = await spawned.catch((cause: unknown) => {
    throw notStarted(program, cause);
  });
  for (const each of started.pipes) each.on("error", () => undefined);
  pipeOf(started, descriptors.seccomp).end(seccomp);
  const firstProcess = childPid(pipeOf(started, descriptors.info));
  return {
    input: pipeOf(started, 0),
    output: pipeOf(started, 1),
    firstProcess,
    resume: () => void pipeOf(started, descriptors.block).end("\n"),
    kill: () => kill(started, firstProcess),
    ended: endOf(started),
  };
}

function notStarted(program: string, cause: unknown): Failure {
  const problem = `cannot start the sandbox: ${program} did not run; check that it is installed and executable`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause });
}

/**
 * Ends the first process of the sandbox, and with it all others, before bwrap itself: a sandbox that still starts does not
 * end with bwrap, and would wait for it forever.
 */
async function kill(
  bwrap: StartedProcess,
  firstProcess: Promise<number | undefined>,
): Promise<void> {
  const isKnown = await settledWithin(firstProcess, killMs, neverAborts);
  const first = isKnown ? await firstProcess : undefined;
  if (bwrap.hasEnded) return;
  if (first !== undefined) killChildOf(bwrap.pid, first);
  bwrap.kill();
}

/** Process ids are reused, so a process is killed only while its parent is bwrap. */
function killChildOf(parent: number, pid: number): void {
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

async function endOf(bwrap: StartedProcess): Promise<string> {
  const complaint = collectText(pipeOf(bwrap, 2));
  await bwrap.ended;
  const open = [1, 2].map((index) => pipeOf(bwrap, index)).filter((each) => !each.closed);
  // A broken stream is closed as well.
  const closed = Promise.allSettled(open.map((each) => once(each, "close")));
  await settledWithin(closed, drainMs, neverAborts);
  for (const each of bwrap.pipes) each.destroy();
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

function pipeOf({ pipes }: StartedProcess, index: number): Duplex {
  const pipe = pipes[index];
  if (pipe === undefined) throw new Error(`bwrap has no descriptor ${index}`);
  return pipe;
}
