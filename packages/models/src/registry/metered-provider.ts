import { boundedLabel, counter, histogram } from "@reeve/platform/telemetry/metrics";
import type {
  ModelPart,
  ModelProvider,
  ModelRequest,
  ModelTurn,
} from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";

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

/** A call of a model that has ended: with a turn, or because the provider failed. */
export interface EndedModelCall {
  readonly request: ModelRequest;
  /** Undefined: the call failed. */
  readonly turn: ModelTurn | undefined;
  readonly durationMs: number;
}

/**
 * Wraps a provider, and counts and times its calls. Calls `onEnd` after each call that was not cancelled.
 */
export function meteredProvider(
  provider: ModelProvider,
  onEnd?: (call: EndedModelCall) => void,
): ModelProvider {
  return {
    descriptor: provider.descriptor,
    format: provider.format,
    countTokens: provider.countTokens,
    media: provider.media,
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
        if (outcome !== "cancelled") onEnd?.({ request, turn, durationMs });
      }
    },
  };
}
