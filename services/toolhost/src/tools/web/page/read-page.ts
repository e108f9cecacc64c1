import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { onAbort } from "@reeve/platform/async/on-abort";
import type { ReaderAnswer, ReaderTask } from "./page-reader.ts";
import type { PageSource, PageText } from "./page-text.ts";
import { residentBytes } from "./resident-bytes.ts";

/** The text of a page, or why it could not be read. */
export type ReadPage =
  | ({ readonly kind: "read" } & PageText)
  | { readonly kind: "failed"; readonly reason: string };

export interface PageLimits {
  readonly timeoutMs: number;
  /** The heap for the page. */
  readonly heapMiB: number;
  /** The memory of the whole process. It includes buffers, which no limit of a heap covers. */
  readonly memoryMiB: number;
}

const defaultLimits: PageLimits = { timeoutMs: 15_000, heapMiB: 160, memoryMiB: 256 };
const checkMs = 50;

/**
 * Reads a page in a process of its own, with an empty environment and without permission to write files, to start programs, or
 * to read anything but its own program, so not the environment of this process either. The process ends with the page, the signal, this process, or at a limit, whatever it does then. Rejects if the signal aborts.
 */
export async function readPage(
  source: PageSource,
  signal: AbortSignal,
  { timeoutMs, heapMiB, memoryMiB }: PageLimits = defaultLimits,
): Promise<ReadPage> {
  signal.throwIfAborted();
  const reader = fork(programFile(), {
    env: {},
    execArgv: ["--no-warnings", ...readerPermissions()],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const { promise, resolve, reject } = Promise.withResolvers<ReadPage>();
  const fail = (problem: string) => {
    resolve({ kind: "failed", reason: `the page cannot be read: ${problem}` });
  };
  // The program sends nothing else.
  reader.once("message", (message) => {
    const answer = message as ReaderAnswer;
    if ("page" in answer) resolve({ kind: "read", ...answer.page });
    else fail(answer.problem);
  });
  reader.on("error", (error) => fail(error.message));
  reader.once("exit", () => fail("its reader ended"));
  const late = setTimeout(() => fail(`it takes more than ${timeoutMs} ms`), timeoutMs);
  const watch = setInterval(() => {
    if (residentBytes(reader.pid) <= memoryMiB * 2 ** 20) return;
    fail(`it takes more than ${memoryMiB} MiB of memory`);
  }, checkMs);
  using _ = onAbort(signal, () => reject(signal.reason));
  const task: ReaderTask = { source, heapMiB };
  reader.send(task, (error) => error && fail(error.message));
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    clearInterval(watch);
    await end(reader);
  }
}

async function end(reader: ChildProcess): Promise<void> {
  if (reader.pid === undefined || reader.exitCode !== null || reader.signalCode !== null) return;
  const exited = once(reader, "exit");
  reader.kill("SIGKILL");
  await exited;
}

/** Beside this file, or, in a bundle, beside the bundle. */
function programFile(): string {
  const { filename } = import.meta;
  return join(dirname(filename), filename.endsWith(".ts") ? "page-reader.ts" : "page-reader.mjs");
}

/** The flags of Node that permit a reader its threads, the folder of its program, and, for sources, those of their packages. */
export function readerPermissions(): readonly string[] {
  const { filename } = import.meta;
  const packages = filename.endsWith(".ts")
    ? (createRequire(filename).resolve.paths("linkedom") ?? [])
    : [];
  const folders = [dirname(filename), ...packages];
  return [
    "--permission",
    "--allow-worker",
    ...folders.map((folder) => `--allow-fs-read=${folder}/*`),
  ];
}
