import { z } from "zod";

/** The section `embeddings` of the registry of models. */
export const embeddingsSchema = z.strictObject({
  provider: z
    .string()
    .min(1)
    .describe(
      "Provider of the file with the API chat or responses, openai, or scripted, which counts letters and needs no server.",
    ),
  model: z.string().min(1).max(200).describe("Name of the model at its provider."),
  dimensions: z
    .number()
    .int()
    .min(1)
    .max(4_096)
    .optional()
    .describe(
      "Number of values of a vector, for models that have a choice. Default: that of the model.",
    ),
  usd_per_million_tokens: z
    .number()
    .min(0)
    .optional()
    .describe("Price in US dollars. Default: none, and costs are not known."),
});

export type EmbeddingsSetting = z.infer<typeof embeddingsSchema>;
