import { ErrorReason } from "@reeve/contracts/error";
import type { Embedder } from "@reeve/knowledge/vectors/embedder";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";

/** How long an embedder is left alone after a failure. */
const pauseMs = 15_000;

/** Wraps an embedder, so that the searches of a process do not all wait for one that does not answer: after a failure, calls fail at once. */
export function pausingEmbedder(embedder: Embedder, clock: Pick<Clock, "now">): Embedder {
  let failed: { readonly untilMs: number; readonly message: string } | undefined;
  return {
    model: embedder.model,
    async embed(texts, signal) {
      if (failed !== undefined && clock.now() < failed.untilMs) {
        throw new Failure("unavailable", ErrorReason.UNAVAILABLE, failed.message);
      }
      try {
        const embedded = await embedder.embed(texts, signal);
        failed = undefined;
        return embedded;
      } catch (error) {
        if (error instanceof Failure) {
          failed = { untilMs: clock.now() + pauseMs, message: error.message };
        }
        throw error;
      }
    },
  };
}
