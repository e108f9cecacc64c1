import { Backoff } from "@reeve/platform/async/retry/backoff";
import type { MediaGenerator, MediaPart, MediaRequest } from "../../ports/media-generator.ts";
import { ModelFailure } from "../../ports/model-provider.ts";
import type { RunPorts } from "../../ports/run-ports.ts";

/** How often a generation is repeated that the provider refused for the moment, and the delays before it. */
const maxRetries = 3;
const delays = { firstDelayMs: 1_000, maxDelayMs: 30_000, jitter: 0.2 };
/** The longest delay that a provider may ask for. */
const maxRetryAfterMs = 60_000;

/**
 * Generates, and repeats what the provider certainly did not process: such a request is not billed. A request whose connection was lost
 * is not repeated. Waits at least as long as the provider asks; fails at once if that is longer than a minute.
 */
export async function* retriedGeneration(
  generator: MediaGenerator,
  request: MediaRequest,
  { clock }: Pick<RunPorts, "clock">,
  signal: AbortSignal,
): AsyncIterable<MediaPart> {
  const backoff = new Backoff(delays);
  for (let retries = 0; ; retries++) {
    let hasBegun = false;
    try {
      for await (const part of generator.generate(request, signal)) {
        hasBegun = true;
        yield part;
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ModelFailure) || !error.retryable) throw error;
      const asked = error.retryAfterMs ?? 0;
      if (hasBegun || !error.isUnprocessed || retries >= maxRetries || asked > maxRetryAfterMs) {
        throw error;
      }
      await clock.sleep(Math.max(asked, backoff.next()), signal);
    }
  }
}
