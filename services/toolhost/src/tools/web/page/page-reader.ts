// The program of the process that reads one page, which `readPage` starts. The page is read in a thread of its own, so that the
// process still ends when its parent does, whatever the page makes the reader do.
import process from "node:process";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { PageSource, PageText } from "./page-text.ts";

/** What the process receives once. */
export interface ReaderTask {
  readonly source: PageSource;
  /** The maximum size of the heap. */
  readonly heapMiB: number;
}

/** What the process sends once, before it ends. */
export type ReaderAnswer = { readonly page: PageText } | { readonly problem: string };

if (isMainThread) {
  process.once("disconnect", () => process.exit());
  process.once("message", (task) => read(task as ReaderTask));
} else {
  const { pageText } = await import("./page-text.ts");
  // The main thread passes a source.
  parentPort?.postMessage(await pageText(workerData as PageSource), []);
}

function read({ source, heapMiB }: ReaderTask): void {
  const thread = new Worker(import.meta.filename, {
    workerData: source,
    resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: 16 },
  });
  thread.once("message", (page: PageText) => answer({ page }));
  thread.once("error", (error) => answer({ problem: error.message }));
}

function answer(given: ReaderAnswer): void {
  process.send?.(given, undefined, undefined, () => process.exit());
}
