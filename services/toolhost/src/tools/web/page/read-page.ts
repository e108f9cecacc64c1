import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { onAbort } from "@reeve/platform/async/on-abort";
import type { PageSource, PageText } from "./page-text.ts";

/** The text of a page, or why it could not be read. */
export type ReadPage =
  | ({ readonly kind: "read" } & PageText)
  | { readonly kind: "failed"; readonly reason: string };

export interface PageLimits {
  readonly timeoutMs: number;
  readonly heapMiB: number;
  /** Memory by which this process may grow meanwhile. It includes buffers, which no limit of a thread covers. */
  readonly growthMiB: number;
}

const defaultLimits: PageLimits = { timeoutMs: 20_000, heapMiB: 256, growthMiB: 512 };
const checkMs = 50;

/** One page at a time, so that the memory by which this process grows is that of the page. */
const mutex = new Semaphore(1);

/**
 * Reads a page in its own thread, with an empty environment. The thread ends with the page, the signal, or a limit, whatever it
 * does then. Rejects if the signal aborts.
 */
export async function readPage(
  source: PageSource,
  signal: AbortSignal,
  { timeoutMs, heapMiB, growthMiB }: PageLimits = defaultLimits,
): Promise<ReadPage> {
  using resources = new DisposableStack();
  resources.use(await mutex.acquire(signal));
  const before = process.memoryUsage.rss();
  const thread = new Worker(programFile(), {
    workerData: source,
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: 32 },
  });
  const { promise, resolve, reject } = Promise.withResolvers<ReadPage>();
  const fail = (reason: string) => resolve({ kind: "failed", reason });
  thread.once("message", (text: PageText) => resolve({ kind: "read", ...text }));
  thread.once("error", (error) => fail(`the page cannot be read: ${error.message}`));
  thread.once("exit", () => fail("the page cannot be read: its reader ended"));
  const late = setTimeout(() => fail(`reading the page took over ${timeoutMs} ms`), timeoutMs);
  const watch = setInterval(() => {
    const growth = process.memoryUsage.rss() - before;
    if (growth > growthMiB * 2 ** 20) fail(`reading the page took over ${growthMiB} MiB of memory`);
  }, checkMs);
  resources.use(onAbort(signal, () => reject(signal.reason)));
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    clearInterval(watch);
    await thread.terminate();
  }
}

/** Beside this file, or, in a bundle, beside the bundle. */
function programFile(): string {
  const { filename } = import.meta;
  return join(dirname(filename), filename.endsWith(".ts") ? "page-thread.ts" : "page-thread.mjs");
}
