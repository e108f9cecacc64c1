import { expect, test } from "vitest";
import type { ExecEvent, OutputStream, Sandbox, SandboxLimits } from "@reeve/sandbox/port";
import { defaultLimits } from "@reeve/sandbox/port";
import type { Progress } from "@reeve/calls/ports/tool";
import { collect } from "@reeve/sandbox/files/collect";
import type { Pause } from "./output-progress.ts";
import { workspaceSandbox } from "./workspace-sandbox.ts";

const never = new AbortController().signal;
const command = { argv: ["x"], limits: { ...defaultLimits, timeoutMs: 1_000 } };
const quota = { bytes: 1_000, files: 10 };
const end: ExecEvent = { kind: "end", reason: "exit", code: 0, durationMs: 1 };

function out(text: string, stream: OutputStream = "stdout"): ExecEvent {
  return { kind: "out", stream, bytes: Buffer.from(text) };
}

/** Returns a sandbox in which `exec` runs for each command. */
function sandboxOf(exec: () => AsyncIterable<ExecEvent>): Sandbox {
  return { isolation: "none", exec };
}

/** Returns pauses that the test ends. */
function pauses() {
  const waiting: PromiseWithResolvers<void>[] = [];
  const pause: Pause = (_, signal) => {
    const turn = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => turn.reject(signal.reason as Error));
    waiting.push(turn);
    return turn.promise;
  };
  const next = async () => {
    waiting.shift()?.resolve();
    await new Promise(setImmediate);
  };
  return { pause, next, waiting };
}

test("a command reports its last lines and how much it has written, once per pause", async () => {
  const { pause, next } = pauses();
  const reports: Progress[] = [];
  const early: number[] = [];
  const sandbox = sandboxOf(async function* () {
    for (let line = 1; line <= 1_000; line++) yield out(`line ${line}\n`);
    early.push(reports.length);
    await next();
    yield out("warning\n", "stderr");
    yield out("a report of our own program", "result");
    await next();
    await next();
    yield end;
  });
  const { text } = await collect(
    workspaceSandbox(sandbox, { quota, onProgress: (progress) => reports.push(progress) }, pause),
    command,
    never,
  );
  expect(early).toEqual([0]);
  expect(reports).toEqual([
    { progress: 8_893, message: "line 998\nline 999\nline 1000" },
    { progress: 8_901, message: "line 999\nline 1000\nwarning" },
  ]);
  expect(text("stdout").split("\n")).toHaveLength(1_001);
});

test("a command that ends at once reports nothing", async () => {
  const { pause, waiting } = pauses();
  const reports: Progress[] = [];
  const sandbox = sandboxOf(async function* () {
    yield out("done\n");
    yield end;
  });
  await collect(
    workspaceSandbox(sandbox, { quota, onProgress: (progress) => reports.push(progress) }, pause),
    command,
    never,
  );
  for (const turn of waiting) turn.resolve();
  await new Promise(setImmediate);
  expect(reports).toEqual([]);
});

test("a silent command reports nothing, and unprintable output is reported as an amount", async () => {
  const { pause, next, waiting } = pauses();
  const reports: Progress[] = [];
  const sandbox = sandboxOf(async function* () {
    expect(waiting).toEqual([]);
    yield out("\0".repeat(50));
    await next();
    yield end;
  });
  await collect(
    workspaceSandbox(sandbox, { quota, onProgress: (progress) => reports.push(progress) }, pause),
    command,
    never,
  );
  expect(reports).toEqual([{ progress: 50, message: "50 bytes" }]);
});

test("an error of the sandbox ends the reports", async () => {
  const { pause, waiting } = pauses();
  const reports: Progress[] = [];
  const sandbox = sandboxOf(async function* () {
    yield out("begun\n");
    throw new Error("the sandbox is gone");
  });
  const collected = collect(
    workspaceSandbox(sandbox, { quota, onProgress: (progress) => reports.push(progress) }, pause),
    command,
    never,
  );
  await expect(collected).rejects.toThrow("the sandbox is gone");
  for (const turn of waiting) turn.resolve();
  await new Promise(setImmediate);
  expect(reports).toEqual([]);
});

test("a command gets no more than the quota of the workspace", async () => {
  const limits: SandboxLimits[] = [];
  const sandbox: Sandbox = {
    isolation: "none",
    exec: async function* (given) {
      limits.push(given.limits);
      yield end;
    },
  };
  const wrapped = workspaceSandbox(sandbox, { quota });
  await collect(wrapped, command, never);
  const small = { workspaceBytes: 10, workspaceFiles: 1, fileBytes: 5 };
  await collect(wrapped, { ...command, limits: { ...command.limits, ...small } }, never);
  expect(limits).toMatchObject([
    { workspaceBytes: quota.bytes, workspaceFiles: quota.files, fileBytes: quota.bytes },
    small,
  ]);
});
