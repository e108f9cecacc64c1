import type { Logger } from "./logger.ts";
import { patiently } from "./patiently.ts";

/**
 * Starts something that needs the store: again, with what it opened given back, for as long as the store does not answer.
 * Any other failure stands. Returns what it opened.
 */
export async function startService(
  start: (resources: AsyncDisposableStack) => Promise<void>,
  log: Logger,
  signal: AbortSignal,
): Promise<AsyncDisposableStack> {
  const once = async () => {
    await using resources = new AsyncDisposableStack();
    try {
      await start(resources);
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, "service could not start");
      throw error;
    }
    return resources.move();
  };
  return await patiently(once, Number.POSITIVE_INFINITY, signal);
}
