import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { Readable as ReadableStream } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { EndReason, ExecEvent, SandboxCommand } from "../../ports/sandbox.ts";
import { descriptors } from "./bwrap-arguments.ts";
import { ExecEvents } from "./exec-events.ts";
import type { Identity } from "./identity.ts";

/** How long output may take to drain once bwrap is gone; its processes went with it. */
const drainMs = 2_000;
const signalBase = 128;
const lastSignal = 64;

export interface BwrapCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly identity: Identity;
  readonly seccomp: Uint8Array;
}

/** Runs bwrap for one command and ends the whole of it when time, output or the caller's patience is over. */
export async function* runBwrap(
  { program, args, identity, seccomp }: BwrapCall,
  command: SandboxCommand,
  signal: AbortSignal,
): AsyncIterable<ExecEvent> {
  signal.throwIfAborted();
  const began = performance.now();
  const child = spawn(program, args, {
    cwd: "/",
    env: {},
    stdio: ["pipe", "pipe", "pipe", "pipe", "pipe"],
    ...(identity.isDedicated && { uid: identity.uid, gid: identity.gid }),
  });
  let ended: EndReason | undefined;
  const kill = (reason: EndReason) => {
    ended ??= reason;
    // The kernel ends the first process of the sandbox with bwrap, and with it all the others.
    child.kill("SIGKILL");
  };
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  exited.catch(() => undefined);
  const started = once(child, "spawn");
  const cancel = () => kill("cancelled");
  signal.addEventListener("abort", cancel, { once: true });
  const timer = setTimeout(() => kill("timeout"), command.limits.timeoutMs);
  try {
    await started.catch((cause: unknown) => {
      throw cannotStart(program, cause);
    });
    const events = new ExecEvents();
    events.push({ kind: "start" });
    collectOutput(child, events, command.limits.outputBytes, () => kill("output_limit"));
    feed(stream(child, descriptors.seccomp), ReadableStream.from([seccomp]));
    feed(stream(child, 0), inputOf(command));
    const finish = async () => {
      const [code, by] = await exited;
      clearTimeout(timer);
      await drained(child);
      const reason = ended ?? (by === null ? reasonOf(code) : "sandbox_lost");
      const durationMs = performance.now() - began;
      events.push({ kind: "end", reason, code: code ?? undefined, durationMs });
    };
    void finish();
    yield* events.read();
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    for (const each of child.stdio) each?.destroy();
  }
}

function collectOutput(
  child: ChildProcess,
  events: ExecEvents,
  mostBytes: number,
  onTooMuch: () => void,
): void {
  let total = 0;
  const count = (bytes: number) => {
    total += bytes;
    if (total > mostBytes) onTooMuch();
    return total <= mostBytes;
  };
  events.add("stdout", stream(child, 1), count);
  events.add("stderr", stream(child, 2), count);
  events.add("result", stream(child, descriptors.result), count);
}

function inputOf({ stdin }: SandboxCommand): Readable {
  if (stdin === undefined) return ReadableStream.from([]);
  return ReadableStream.from(stdin instanceof Uint8Array ? [stdin] : stdin);
}

function feed(to: Writable, from: Readable): void {
  // A command that does not read its input, or is gone, is no mistake.
  pipeline(from, to).catch(() => undefined);
}

async function drained(child: ChildProcess): Promise<void> {
  const open = [1, 2, descriptors.result]
    .map((index) => stream(child, index))
    .filter((each) => !each.readableEnded && !each.destroyed);
  const all = Promise.all(open.map((each) => once(each, "close").catch(() => undefined)));
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, drainMs);
  await Promise.race([all, promise]);
  clearTimeout(timer);
}

function reasonOf(code: number | null): EndReason {
  const isSignal = code !== null && code > signalBase && code <= signalBase + lastSignal;
  return isSignal ? "signal" : "exit";
}

/** Every descriptor is a pipe, which Node makes a socket: it reads and writes. */
function stream(child: ChildProcess, index: number): Readable & Writable {
  const found: unknown = child.stdio[index];
  if (found === null || found === undefined) throw new Error(`descriptor ${index} is no pipe`);
  return found as Readable & Writable;
}

function cannotStart(program: string, cause: unknown): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `the sandbox could not be started: ${program} did not run`,
    { cause },
  );
}
