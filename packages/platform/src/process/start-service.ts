import type { Logger } from "../telemetry/logger.ts";
import { errors } from "@nats-io/transport-node";
import { Failure } from "../failure.ts";
import { storeUnavailable } from "../nats/store-unavailable.ts";
import { retryUnavailable } from "../async/retry/retry-unavailable.ts";

/**
 * Runs `start`, which needs the store, and returns the resources that it opened. While the store does not answer, disposes of
 * those resources and retries without a time limit. Throws any other error at once.
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
      if (!isStoreUnavailable(error)) throw error;
      if (!signal.aborted)
        log.warn({ err: error }, "the store does not answer; retrying the start");
      throw storeUnavailable(error);
    }
    return resources.move();
  };
  return await retryUnavailable(once, { maxElapsedMs: Infinity }, signal);
}

/** Whether an error, of Reeve or of the NATS client, means that the store does not answer. */
function isStoreUnavailable(error: unknown): boolean {
  if (error instanceof Failure) return error.kind === "unavailable";
  return (
    error instanceof errors.TimeoutError ||
    error instanceof errors.NoRespondersError ||
    error instanceof errors.RequestError
  );
}
