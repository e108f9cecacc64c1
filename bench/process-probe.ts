import process from "node:process";
import { setImmediate as turn } from "node:timers/promises";

/** The number of collections: finalizers that run after one release more memory for the next. */
const collections = 3;

/** Interval between two samples of the processor time of the event loop. */
const sampleMs = 5;

let longestMs = 0;
let usedMs = threadCpuMs();
/** A sample is taken by each turn that is due; so the time since the last one is that of the turns between them. */
setInterval(() => {
  const nowMs = threadCpuMs();
  longestMs = Math.max(longestMs, nowMs - usedMs);
  usedMs = nowMs;
}, sampleMs).unref();

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Loaded into a Reeve process first, and answers its parent: `collect` with the bytes that it retains after collection, `delay`
 * with the longest time for which its event loop was busy at once since the last answer, in milliseconds of processor time.
 * Other processes on the machine do not count.
 */
process.on("message", (asked) => {
  if (asked === "collect") void collect();
  else process.send?.(takeLongest());
});

function takeLongest(): number {
  const taken = longestMs;
  longestMs = 0;
  return taken;
}

async function collect(): Promise<void> {
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
