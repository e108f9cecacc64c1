import type { Logger } from "../telemetry/logger.ts";
import { errors } from "@nats-io/transport-node";
import { Failure } from "../failure.ts";
import { storeUnavailable } from "../nats/store-unavailable.ts";
import { patiently } from "../async/patiently.ts";

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
      if (!isStoreAway(error)) throw error;
      if (!signal.aborted) log.warn({ err: error }, "the store does not answer; starting again");
      throw storeUnavailable(error);
    }
    return resources.move();
  };
  return await patiently(once, Number.POSITIVE_INFINITY, signal);
}

/** A client of NATS has its own words for a server that does not answer. */
function isStoreAway(error: unknown): boolean {
  if (error instanceof Failure) return error.kind === "unavailable";
  return (
    error instanceof errors.TimeoutError ||
    error instanceof errors.NoRespondersError ||
    error instanceof errors.RequestError
  );
}
