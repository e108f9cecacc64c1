import { ErrorReason } from "@reeve/contracts/error";
import type { Embedder } from "@reeve/knowledge/vectors/embedder";
import { malformed } from "@reeve/knowledge/vectors/byte-vectors";
import { Failure } from "@reeve/platform/failure";
import type { ModelFailureReason } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { z } from "zod";
import { openaiClient, openaiErrors } from "../wire/openai-client.ts";
import { ProviderFailures } from "../wire/provider-failures.ts";
import type { ProviderOptions } from "../wire/provider-options.ts";
import type { EmbeddingsSetting } from "./embeddings-setting.ts";

const maxRetries = 2;
const timeoutMs = 30_000;

const answerSchema = z.object({
  data: z.array(z.object({ index: z.number().int(), embedding: z.array(z.number()) })),
  usage: z.object({ total_tokens: z.number().int().min(0) }).optional(),
});

interface EmbedderOptions extends ProviderOptions {
  readonly name: string;
  readonly setting: Omit<EmbeddingsSetting, "provider">;
}

/** Returns an embedder that calls `/embeddings` of OpenAI, or of a server with the same API. */
export function openaiEmbedder({ setting, ...options }: EmbedderOptions): Embedder {
  const { name, apiKey } = options;
  const { model, dimensions, usd_per_million_tokens: price } = setting;
  const openClient = openaiClient({ ...options, idleTimeoutMs: timeoutMs });
  const failures = new ProviderFailures(name, apiKey, openaiErrors);
  return {
    model: `${name}:${model}`,
    async embed(texts, signal) {
      try {
        const client = await openClient();
        const response = await client.embeddings
          .create(
            {
              model,
              input: [...texts],
              encoding_format: "float",
              ...(dimensions !== undefined && { dimensions }),
            },
            { signal, maxRetries, timeout: timeoutMs },
          )
          .asResponse();
        const { data, usage } = answerIn(await response.text());
        // Servers that count no tokens charge nothing.
        const tokens = usage?.total_tokens ?? 0;
        return {
          vectors: data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding),
          tokens,
          costUsd: price === undefined ? undefined : (tokens * price) / 1_000_000,
        };
      } catch (error) {
        signal.throwIfAborted();
        const failure = failures.ofException(error);
        if (!(failure instanceof ModelFailure)) throw failure;
        throw failureOf(`${name}:${model}`, failure);
      }
    },
  };
}

/** What is wrong with the texts, and not with the model. */
const ofTexts: ReadonlySet<ModelFailureReason> = new Set([
  "context_overflow",
  "invalid",
  "refused",
]);

/** The provider may quote the texts of one tenant, and others read the message: it stays in the cause. */
function failureOf(model: string, cause: ModelFailure): Failure {
  if (ofTexts.has(cause.reason)) {
    const message = `${model} refuses the text (${cause.reason})`;
    return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
  }
  const message = `${model} does not embed now (${cause.reason})`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { cause });
}

function answerIn(text: string): z.infer<typeof answerSchema> {
  try {
    return answerSchema.parse(JSON.parse(text));
  } catch {
    throw malformed("no list of vectors in JSON");
  }
}
