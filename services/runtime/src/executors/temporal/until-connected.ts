import { abortable } from "@reeve/platform/async/abortable";
import type { BackoffOptions } from "@reeve/platform/async/retry/backoff";
import { Backoff } from "@reeve/platform/async/retry/backoff";
import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";

/** The delay before another attempt to reach Temporal. */
const defaultDelays = { firstDelayMs: 500, maxDelayMs: 5_000, jitter: 0.5 };

export interface ConnectingOptions {
  readonly address: string;
  readonly log: Logger;
  /** Default: half a second to five seconds. */
  readonly delays?: BackoffOptions;
}

/** Connects to Temporal, however long it is unreachable: runs wait meanwhile. Logs each outage once. Rejects with the signal's reason. */
export async function untilConnected<Connection>(
  connect: () => Promise<Connection>,
  { address, log, delays = defaultDelays }: ConnectingOptions,
  signal: AbortSignal,
): Promise<Connection> {
  const backoff = new Backoff(delays);
  for (;;) {
    signal.throwIfAborted();
    try {
      return await abortable(connect(), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (backoff.failures === 0) {
        log.warn({ err: error, address }, "Temporal is unreachable; runs wait until it answers");
      }
      await sleep(backoff.next(), signal);
    }
  }
}
