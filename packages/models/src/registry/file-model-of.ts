import { toJson } from "@bufbuild/protobuf";
import type { ModelSpec } from "@reeve/contracts/agent";
import { PricingSchema } from "@reeve/contracts/agent";
import type { z } from "zod";
import { modelSchema } from "./model-registry.ts";

/** Returns a model as a file describes it, without what is the default: the inverse of `modelOf`. */
export function fileModelOf(model: ModelSpec): z.input<typeof modelSchema> {
  const { id, provider, upstreamName, contextWindow, maxOutputTokens } = model;
  const { modalities, generates, partialImages, knowledgeCutoff, pricing, capabilities } = model;
  const described = {
    id,
    provider,
    ...(upstreamName !== "" && upstreamName !== id && { upstream_name: upstreamName }),
    ...(contextWindow > 0 && { context_window: contextWindow }),
    ...(maxOutputTokens > 0 && { max_output_tokens: maxOutputTokens }),
    ...(modalities.length > 0 && modalities.join() !== "text" && { modalities }),
    ...(generates.length > 0 && { generates }),
    ...(partialImages > 0 && { partial_images: partialImages }),
    ...(knowledgeCutoff !== "" && { knowledge_cutoff: knowledgeCutoff }),
    ...(pricing && { pricing: filePricingOf(pricing) }),
    ...(capabilities && {
      capabilities: {
        tools: capabilities.tools,
        parallel_tool_calls: capabilities.parallelToolCalls,
        reasoning: capabilities.reasoning,
        temperature: capabilities.temperature,
      },
    }),
  };
  // Checks what the types of the contract do not say, such as the names of modalities.
  modelSchema.parse(described);
  return described as z.input<typeof modelSchema>;
}

/** A file has the names of the contract, and not where a built-in price comes from. */
function filePricingOf(pricing: NonNullable<ModelSpec["pricing"]>): unknown {
  const options = { useProtoFieldName: true, alwaysEmitImplicit: true };
  const prices = toJson(PricingSchema, { ...pricing, source: "", asOf: "" }, options);
  const kept = Object.entries(prices ?? {}).filter(
    ([name, value]) =>
      name !== "source" && name !== "as_of" && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(kept);
}
