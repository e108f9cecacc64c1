import type { MediaSize } from "@reeve/agent/media/media-price";
import { maxMediaUsd, mediaSize } from "@reeve/agent/media/media-price";
import { costOfMedia } from "@reeve/engine/domain/media/media-cost";
import type { MediaGenerator, MediaPart, MediaRequest } from "@reeve/engine/ports/media-generator";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { boundedLabel, counter, histogram } from "@reeve/platform/telemetry/metrics";
import type { EndedModelCall } from "./ended-model-call.ts";

const providerLabel = boundedLabel(100);
const modelLabel = boundedLabel(100);
const generations = counter({
  name: "reeve_media_generations_total",
  help: "Generations of media by provider, model, and outcome: `generated`, `cancelled`, `timed_out`, `broken`, or the reason of the provider's failure.",
  labels: ["provider", "model", "outcome"],
});
const seconds = histogram({
  name: "reeve_media_generation_duration_seconds",
  help: "Duration of generations of media, by provider and model.",
  labels: ["provider", "model"],
  buckets: [0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 600],
});
const files = counter({
  name: "reeve_media_files_total",
  help: "Generated images and recordings, by provider and model.",
  labels: ["provider", "model"],
});
const cost = counter({
  name: "reeve_media_cost_usd_total",
  help: "Cost of generations of media in US dollars, for models with a price. A generation that was cancelled or that failed, and that may be billed, counts with its maximum cost.",
  labels: ["provider", "model"],
});

/**
 * Wraps a generator, and counts and times its generations. Calls `onEnd` after each that was not cancelled.
 */
export function meteredMedia(
  generator: MediaGenerator,
  onEnd?: (call: EndedModelCall) => void,
): MediaGenerator {
  return {
    async *generate(request, signal): AsyncIterable<MediaPart> {
      const { model, owner } = request;
      const labels = {
        provider: providerLabel(model.provider),
        model: modelLabel(model.upstreamName),
      };
      const end = seconds.startTimer(labels);
      let outcome = "cancelled";
      let isUnprocessed = false;
      const used = { files: 0, inputTokens: 0, outputTokens: 0 };
      try {
        for await (const part of generator.generate(request, signal)) {
          if (part.kind === "file") used.files++;
          if (part.kind === "usage") Object.assign(used, tokensOf(part));
          yield part;
        }
        outcome = "generated";
      } catch (error) {
        outcome = outcomeOf(error, signal);
        isUnprocessed = error instanceof ModelFailure && error.isUnprocessed && !signal.aborted;
        throw error;
      } finally {
        // A caller that stops reading, because it cannot store a file, says nothing about the provider.
        if (outcome === "cancelled" && !signal.aborted) outcome = "generated";
        const durationMs = end() * 1_000;
        const hasGenerated = outcome === "generated";
        const asked = sizeOf(request);
        const lostUsd = isUnprocessed ? 0 : maxMediaUsd(request.kind, model, asked);
        const costUsd = hasGenerated
          ? costOfMedia(request.kind, model, { ...asked, ...used })
          : lostUsd;
        generations.inc({ ...labels, outcome });
        files.inc(labels, used.files);
        if (costUsd !== undefined) cost.inc(labels, costUsd);
        const usage = hasGenerated ? { ...used, costUsd } : undefined;
        if (outcome !== "cancelled") onEnd?.({ model, owner, usage, durationMs });
      }
    },
  };
}

function tokensOf({ inputTokens, outputTokens }: Extract<MediaPart, { kind: "usage" }>) {
  return { inputTokens, outputTokens };
}

function outcomeOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return isTimeout(signal.reason) ? "timed_out" : "cancelled";
  return error instanceof ModelFailure ? error.reason : "broken";
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === "TimeoutError";
}

/** Returns what decides on the maximum cost of a request. */
function sizeOf(request: MediaRequest): MediaSize {
  return request.kind === "image"
    ? mediaSize(request.count, request.prompt)
    : mediaSize(1, request.text);
}
