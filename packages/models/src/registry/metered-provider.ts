import { boundedLabel, counter, histogram } from "@reeve/platform/telemetry/metrics";
import { costOf } from "@reeve/engine/domain/model/price";
import type {
  ModelPart,
  ModelProvider,
  ModelRequest,
  ModelTurn,
} from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import type { CallUsage, EndedModelCall } from "./ended-model-call.ts";
import { meteredMedia } from "./metered-media.ts";

const labelOf = boundedLabel(100);
const calls = counter({
  name: "reeve_model_calls_total",
  help: "Model calls by model and outcome: `answered`, `cancelled`, `broken`, or the reason of the provider's failure.",
  labels: ["model", "outcome"],
});
const seconds = histogram({
  name: "reeve_model_call_duration_seconds",
  help: "Duration of model calls until the end of the answer, by model.",
  labels: ["model"],
  buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320],
});

/**
 * Wraps a provider, and counts and times its calls and generations. Calls `onEnd` after each call that was not cancelled.
 */
export function meteredProvider(
  provider: ModelProvider,
  onEnd?: (call: EndedModelCall) => void,
): ModelProvider {
  return {
    descriptor: provider.descriptor,
    format: provider.format,
    countTokens: provider.countTokens,
    media: provider.media && meteredMedia(provider.media, onEnd),
    async *stream(request, signal): AsyncIterable<ModelPart> {
      const model = labelOf(request.model.upstreamName);
      const end = seconds.startTimer({ model });
      let outcome = "cancelled";
      let turn: ModelTurn | undefined;
      try {
        for await (const part of provider.stream(request, signal)) {
          if (part.kind === "turn") {
            outcome = "answered";
            ({ turn } = part);
          }
          yield part;
        }
      } catch (error) {
        if (!signal.aborted) outcome = error instanceof ModelFailure ? error.reason : "broken";
        throw error;
      } finally {
        const durationMs = end() * 1_000;
        calls.inc({ model, outcome });
        const usage = turn && usageOf(request, turn);
        const { model: called, owner } = request;
        if (outcome !== "cancelled") onEnd?.({ model: called, owner, usage, durationMs });
      }
    },
  };
}

function usageOf({ model: { pricing } }: ModelRequest, { usage }: ModelTurn): CallUsage {
  const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
  const isPriced = pricing !== undefined && usage !== undefined;
  return { inputTokens, outputTokens, costUsd: isPriced ? costOf(usage, pricing) : undefined };
}
