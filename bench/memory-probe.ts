import process from "node:process";
import { setImmediate as turn } from "node:timers/promises";

/** How often garbage is collected: what hears of a collection lets go of more. */
const collections = 3;

/** Loaded into a process of Reeve before anything else: answers each message of its parent with what it really keeps. */
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
// A driver that was killed leaves nothing behind.
process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
