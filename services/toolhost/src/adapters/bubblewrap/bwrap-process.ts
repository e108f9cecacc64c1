import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { descriptors } from "./bwrap-arguments.ts";
import type { Identity } from "./identity.ts";

/** How long output may take to drain once bwrap is gone; its processes went with it. */
const drainMs = 2_000;

/** A running bwrap and the ends of its descriptors that are ours. */
export interface BwrapProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly result: Readable;
  /** Id of the first process of the sandbox, which waits until `release`. Undefined when bwrap ended before. */
  firstProcess(): Promise<number | undefined>;
  release(): void;
  kill(): void;
  /** Resolves when bwrap is gone and its output is read: its exit code, undefined when a signal ended bwrap itself. */
  readonly ended: Promise<number | undefined>;
}

/** Starts bwrap with an empty environment, so that nothing of ours is to be found in `/proc`. Throws a Failure. */
export async function startBwrap(
  program: string,
  args: readonly string[],
  identity: Identity,
  seccomp: Uint8Array,
): Promise<BwrapProcess> {
  const child = spawn(program, args, {
    cwd: "/",
    env: {},
    stdio: ["pipe", "pipe", "pipe", "pipe", "pipe", "pipe", "pipe"],
    ...(identity.isDedicated && { uid: identity.uid, gid: identity.gid }),
  });
  const exited = once(child, "exit");
  exited.catch(() => undefined);
  await once(child, "spawn").catch((cause: unknown) => {
    const problem = `the sandbox could not be started: ${program} did not run`;
    throw new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause });
  });
  for (const each of child.stdio) each?.on("error", () => undefined);
  pipeOf(child, descriptors.seccomp).end(seccomp);
  return {
    stdin: pipeOf(child, 0),
    stdout: pipeOf(child, 1),
    stderr: pipeOf(child, 2),
    result: pipeOf(child, descriptors.result),
    firstProcess: () => childPid(pipeOf(child, descriptors.info)),
    release: () => pipeOf(child, descriptors.block).end("\n"),
    kill: () => child.kill("SIGKILL"),
    ended: endOf(child, exited),
  };
}

async function endOf(child: ChildProcess, exited: Promise<unknown[]>): Promise<number | undefined> {
  await exited;
  const streams = [1, 2, descriptors.result].map((index) => pipeOf(child, index));
  const open = streams.filter((each) => !each.closed);
  const closed = Promise.all(open.map((each) => once(each, "close")));
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, drainMs);
  await Promise.race([closed, late]);
  clearTimeout(timer);
  for (const each of child.stdio) each?.destroy();
  return child.exitCode ?? undefined;
}

/** bwrap tells of its child as JSON, in one or more writes. */
async function childPid(info: Readable): Promise<number | undefined> {
  let text = "";
  for await (const chunk of info) {
    text += String(chunk);
    const [, pid] = /"child-pid": *(\d+)/.exec(text) ?? [];
    if (pid !== undefined && text.includes("}")) return Number(pid);
  }
  return undefined;
}

/** Every descriptor is a pipe, which Node makes a socket: it reads and writes. */
function pipeOf(child: ChildProcess, index: number): Readable & Writable {
  return child.stdio[index] as Readable & Writable;
}
