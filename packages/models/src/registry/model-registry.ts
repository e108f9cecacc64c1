import { create } from "@bufbuild/protobuf";
import { z } from "zod";
import { mediaKinds } from "@reeve/agent/media/media-kinds";
import { settingProviders } from "@reeve/agent/registry/reserved-providers";
import type { ModelSpec } from "@reeve/contracts/agent";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import { allModalities } from "@reeve/contracts/content/media";
import { parseYamlFile } from "@reeve/platform/process/parse-yaml-file";
import type { Violation } from "@reeve/platform/failure";
import type { EmbeddingsSetting } from "../embeddings/embeddings-setting.ts";
import { embeddingsSchema } from "../embeddings/embeddings-setting.ts";
import type { RegisteredProvider } from "./registered-provider.ts";
import { registeredProviderSchema } from "./registered-provider.ts";
import type { StoredProviderSettings } from "./stored-providers.ts";
import { storedProvidersSchema } from "./stored-providers.ts";

/**
 * Parses a registry of models. Throws a Failure with every problem of the file.
 *
 * ```yaml
 * providers:
 *   - name: local                   # agents name its models as local:MODEL
 *     api: chat                     # or responses, anthropic
 *     base_url: http://127.0.0.1:8000/v1
 *     api_key: ${LOCAL_KEY}         # or api_key_file; default: none
 * models:
 *   - id: fast                      # the name that agents use
 *     provider: openai
 *     upstream_name: gpt-5.4-mini   # the provider's name of the model; default: the id
 *     context_window: 400000        # tokens
 *     max_output_tokens: 128000
 *     modalities: [text, image]     # what it reads: text, image, audio, pdf; default: text
 *     generates: [image]            # media that it generates in place of text: image, speech; default: none
 *     partial_images: 2             # how many partial images it streams, at most 3; default: 0
 *     knowledge_cutoff: "2025-08"
 *     pricing:                      # US dollars per million tokens
 *       input_usd_per_million: 0.75
 *       cached_input_usd_per_million: 0.075
 *       cache_write_input_usd_per_million: 0.9375 # default: 1.25 times the input price
 *       output_usd_per_million: 4.5
 *       long_requests:              # other prices of calls with more input tokens; fields as above
 *         - above_input_tokens: 272000
 *           input_usd_per_million: 1.5
 *           output_usd_per_million: 6.75
 *       usd_per_image: 0.04         # of a model that generates images; the prices of tokens may then be left out
 *       usd_per_million_characters: 15 # of a model that generates speech
 *     capabilities:                 # default: those of the provider
 *       tools: true
 *       parallel_tool_calls: false
 *       reasoning: false
 *       temperature: false
 * stored_providers:                 # what providers that are stored through the API may use; default: nothing
 *   origins: [https://models.example.org, "https://*.example.com"]
 *   secrets:
 *     proxy: { api_key: ${PROXY_KEY}, origins: [https://models.example.org] } # or api_key_file
 * embeddings:                       # of documents and queries; default: none, only words are searched
 *   provider: local                 # or openai, scripted
 *   model: nomic-embed-text
 *   dimensions: 512                 # for models that have a choice
 *   usd_per_million_tokens: 0.02
 * ```
 *
 * A capability that is omitted is true.
 */
export function parseModelRegistry(text: string, file: string): ModelRegistry {
  const parsed = parseYamlFile(text, file, registrySchema);
  const { providers, models, embeddings, stored_providers: storedProviders } = parsed;
  return {
    providers,
    models: models.map(modelOf),
    storedProviders,
    ...(embeddings && { embeddings }),
  };
}

/** Returns a violation for each model whose provider neither the registry nor a setting can configure. */
export function providerViolations({
  providers,
  models,
  embeddings,
}: Pick<ModelRegistry, "providers" | "models" | "embeddings">): readonly Violation[] {
  const known = [...providers.map(({ name }) => name), ...settingProviders];
  const ofModels = models.flatMap(({ id, provider }, index) => {
    if (known.includes(provider)) return [];
    const description = `model ${id} has the provider "${provider}", which does not exist; the providers are: ${known.join(", ")}`;
    return [{ field: `models.${index}.provider`, description, reason: "PROVIDER_NOT_FOUND" }];
  });
  return [...ofModels, ...embeddingsViolations(providers, embeddings)];
}

function embeddingsViolations(
  providers: ModelRegistry["providers"],
  embeddings: EmbeddingsSetting | undefined,
): readonly Violation[] {
  if (embeddings === undefined) return [];
  const able = [
    ...providers.filter(({ api }) => api !== "anthropic").map(({ name }) => name),
    "openai",
    "scripted",
  ];
  if (able.includes(embeddings.provider)) return [];
  const description = `the provider "${embeddings.provider}" has no embeddings; those that have are: ${able.join(", ")}`;
  return [{ field: "embeddings.provider", description, reason: "PROVIDER_NOT_FOUND" }];
}

/** What a registry says. */
export interface ModelRegistry {
  readonly providers: readonly RegisteredProvider[];
  readonly models: readonly ModelSpec[];
  /** What providers that are stored through the API may use. */
  readonly storedProviders: StoredProviderSettings;
  /** The model that embeds documents and queries. Default: none. */
  readonly embeddings?: EmbeddingsSetting;
}

/** Returns a model of a file as the contracts describe it. A capability that is omitted is true. */
export function modelOf({
  pricing,
  capabilities,
  upstream_name: upstreamName,
  ...model
}: z.infer<typeof modelSchema>): ModelSpec {
  return create(ModelSpecSchema, {
    id: model.id,
    provider: model.provider,
    upstreamName: upstreamName ?? model.id,
    contextWindow: model.context_window,
    maxOutputTokens: model.max_output_tokens,
    modalities: model.modalities,
    generates: model.generates,
    partialImages: model.partial_images,
    knowledgeCutoff: model.knowledge_cutoff,
    ...(pricing !== undefined && { pricing: pricingOf(pricing) }),
    ...(capabilities !== undefined && { capabilities: capabilitiesOf(capabilities) }),
  });
}

const price = z.number().min(0);
const tokens = z.number().int().min(0).max(0xffff_ffff).default(0);

const prices = {
  input_usd_per_million: price,
  output_usd_per_million: price,
  cached_input_usd_per_million: price.optional(),
  cache_write_input_usd_per_million: price.optional(),
};

const longRequestSchema = z.strictObject({
  ...prices,
  above_input_tokens: z.number().int().min(1).max(0xffff_ffff),
});

const pricingSchema = z
  .strictObject({
    ...prices,
    input_usd_per_million: price.optional(),
    output_usd_per_million: price.optional(),
    long_requests: z.array(longRequestSchema).max(16).default([]),
    usd_per_image: price.optional(),
    usd_per_million_characters: price.optional(),
  })
  .superRefine((pricing, context) => {
    const { usd_per_image: image, usd_per_million_characters: characters } = pricing;
    if (image !== undefined || characters !== undefined) return;
    // Without the price of a file, those of tokens decide on every cost.
    for (const name of ["input_usd_per_million", "output_usd_per_million"] as const) {
      const message = "is required, unless usd_per_image or usd_per_million_characters is set";
      if (pricing[name] === undefined) {
        context.addIssue({ code: "custom", path: [name], message });
      }
    }
  });

const capabilitiesSchema = z.strictObject({
  tools: z.boolean().default(true),
  parallel_tool_calls: z.boolean().default(true),
  reasoning: z.boolean().default(true),
  temperature: z.boolean().default(true),
});

/** A model in a file. */
export const modelSchema = z.strictObject({
  id: z.string().min(1),
  provider: z.string().min(1),
  upstream_name: z.string().min(1).optional(),
  context_window: tokens,
  max_output_tokens: tokens,
  modalities: z.array(z.enum(allModalities)).default(["text"]),
  generates: z.array(z.enum(mediaKinds)).default([]),
  partial_images: z.number().int().min(0).max(3).default(0),
  knowledge_cutoff: z.string().default(""),
  pricing: pricingSchema.optional(),
  capabilities: capabilitiesSchema.optional(),
});

/** The content of a registry of models. */
export const registrySchema = z.strictObject({
  providers: z
    .array(registeredProviderSchema)
    .max(50, "has more than 50 providers")
    .superRefine(refuseRepeated("name", "provider"))
    .default([]),
  models: z.array(modelSchema).superRefine(refuseRepeated("id", "model")).default([]),
  stored_providers: storedProvidersSchema
    .prefault({})
    .describe("What providers that are stored through the API may use. Default: nothing."),
  embeddings: embeddingsSchema.optional(),
});

/** Reports each entry of a list whose key an earlier one has. */
function refuseRepeated<Key extends string>(key: Key, noun: string) {
  return (entries: readonly Readonly<Record<Key, string>>[], context: z.RefinementCtx) => {
    const seen = new Set<string>();
    for (const [index, { [key]: value }] of entries.entries()) {
      if (seen.has(value)) {
        const message = `${value} is also the ${key} of another ${noun}`;
        context.addIssue({ code: "custom", path: [index, key], message });
      }
      seen.add(value);
    }
  };
}

function pricingOf({ long_requests: longRequests, ...pricing }: z.infer<typeof pricingSchema>) {
  const { input_usd_per_million: input = 0, output_usd_per_million: output = 0 } = pricing;
  const { usd_per_image: usdPerImage, usd_per_million_characters: usdPerMillionCharacters } =
    pricing;
  return {
    ...pricesOf({ ...pricing, input_usd_per_million: input, output_usd_per_million: output }),
    ...(usdPerImage !== undefined && { usdPerImage }),
    ...(usdPerMillionCharacters !== undefined && { usdPerMillionCharacters }),
    longRequests: longRequests
      .toSorted((a, b) => a.above_input_tokens - b.above_input_tokens)
      .map(({ above_input_tokens: aboveInputTokens, ...each }) => ({
        aboveInputTokens,
        ...pricesOf(each),
      })),
  };
}

function pricesOf(pricing: z.infer<z.ZodObject<typeof prices>>) {
  const cached = pricing.cached_input_usd_per_million;
  const written = pricing.cache_write_input_usd_per_million;
  return {
    inputUsdPerMillion: pricing.input_usd_per_million,
    outputUsdPerMillion: pricing.output_usd_per_million,
    ...(cached !== undefined && { cachedInputUsdPerMillion: cached }),
    ...(written !== undefined && { cacheWriteInputUsdPerMillion: written }),
  };
}

function capabilitiesOf({
  parallel_tool_calls: parallelToolCalls,
  ...capabilities
}: z.infer<typeof capabilitiesSchema>) {
  return { ...capabilities, parallelToolCalls };
}
