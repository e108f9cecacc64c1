import process from "node:process";
import { setImmediate as turn } from "node:timers/promises";

/** The number of collections: finalizers that run after one release more memory for the next. */
const collections = 3;

/** Loaded into a Reeve process first: answers each message of its parent with the memory that it retains after collection. */
process.on("message", () => void answer());

async function answer(): Promise<void> {
  for (let collection = 0; collection < collections; collection++) {
    globalThis.gc?.();
    await turn();
  }
  const { heapUsed, external } = process.memoryUsage();
  process.send?.(heapUsed + external);
}

process.channel?.unref();
// The process ends with its driver.
process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
