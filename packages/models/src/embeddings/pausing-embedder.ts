import { ErrorReason } from "@reeve/contracts/error";
import type { Embedder } from "@reeve/knowledge/vectors/embedder";
import { abortable } from "@reeve/platform/async/abortable";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";

/** How long an embedder is left alone after a failure. */
const pauseMs = 15_000;
const defaultWaitMs = 45_000;

/**
 * Wraps an embedder, so that the searches of a process do not all wait for one that does not answer: after that, calls fail at once for 15
 * seconds. A text that the model refuses pauses nothing, because it is of one tenant.
 */
export function pausingEmbedder(embedder: Embedder, clock: Pick<Clock, "now">): Embedder {
  const { model } = embedder;
  let pausedUntilMs = 0;
  return {
    model,
    async embed(texts, signal, maxWaitMs = defaultWaitMs) {
      const pausedMs = pausedUntilMs - clock.now();
      if (pausedMs > 0) {
        const seconds = Math.ceil(pausedMs / 1_000);
        throw unavailable(`${model} did not answer; it is tried again in ${seconds} seconds`);
      }
      const limit = AbortSignal.timeout(maxWaitMs);
      const until = AbortSignal.any([signal, limit]);
      try {
        const embedded = await abortable(embedder.embed(texts, until), until);
        pausedUntilMs = 0;
        return embedded;
      } catch (error) {
        signal.throwIfAborted();
        const failure =
          limit.aborted && !(error instanceof Failure)
            ? unavailable(`${model} did not answer in ${maxWaitMs / 1_000} seconds`)
            : error;
        if (failure instanceof Failure && failure.kind === "unavailable") {
          pausedUntilMs = clock.now() + pauseMs;
        }
        throw failure;
      }
    },
  };
}

function unavailable(message: string): Failure {
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
