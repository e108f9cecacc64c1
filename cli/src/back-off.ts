import { setTimeout as wait } from "node:timers/promises";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";

/** How often something is tried, and how long it waits in between. */
export interface BackOff {
  /** How many failures in a row are borne. */
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}

/** For a stream that is worth waiting for: about half a minute. */
export const patient: BackOff = {
  attempts: 10,
  firstDelayMs: 100,
  longestDelayMs: 5_000,
  sleep: (delayMs, signal) => wait(delayMs, undefined, { signal }),
};

/** For a request that a person waits for: about one second. */
export const brief: BackOff = { ...patient, attempts: 4, longestDelayMs: 1_000 };

/** How long to wait after the `failures`th failure in a row. */
export function delayAfter(failures: number, { firstDelayMs, longestDelayMs }: BackOff): number {
  return Math.min(firstDelayMs * 2 ** (failures - 1), longestDelayMs);
}

/** Makes a request that may be repeated safely, again while the server cannot be reached. */
export async function persistently<Result>(
  request: () => Promise<Result>,
  backOff: BackOff,
  signal: AbortSignal,
): Promise<Result> {
  for (let failures = 1; ; failures++) {
    try {
      return await request();
    } catch (error) {
      signal.throwIfAborted();
      if (failures >= backOff.attempts || failureFrom(error).kind !== "unavailable") throw error;
      await backOff.sleep(delayAfter(failures, backOff), signal);
    }
  }
}
