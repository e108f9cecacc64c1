import process from "node:process";

/** Loaded into a process of Reeve before anything else: answers each message of its parent with what it really keeps. */
process.on("message", () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.(heapUsed + external);
});
process.channel?.unref();
// A driver that was killed leaves nothing behind.
process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
