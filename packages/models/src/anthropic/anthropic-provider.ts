import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { priceListAt } from "../wire/price-list.ts";
import { ProviderFailures } from "../wire/provider-failures.ts";
import type { ProviderOptions } from "../wire/provider-options.ts";
import { readAnswer } from "../wire/read-answer.ts";
import { anthropicAddress, anthropicClient, anthropicErrors } from "./anthropic-client.ts";
import { anthropicFormat } from "./anthropic-messages.ts";
import { anthropicCountRequest, anthropicRequest } from "./anthropic-request.ts";
import { MessageAssembly } from "./assemble-message.ts";

export interface AnthropicOptions extends ProviderOptions {
  /** Default: the default of each model. */
  readonly thinking?: "adaptive" | undefined;
}

/** Creates a provider that calls models over the Messages API of Anthropic or of a compatible server. */
export function anthropicProvider(options: AnthropicOptions): ModelProvider {
  const { name = "anthropic", apiKey, baseUrl = anthropicAddress, thinking } = options;
  const openClient = anthropicClient(options);
  const descriptor = create(ProviderDescriptorSchema, {
    name,
    // The API dropped the temperature in version 2026-10-21.
    capabilities: {
      tools: true,
      parallelToolCalls: true,
      reasoning: true,
      temperature: false,
      countsTokens: true,
    },
    modalities: ["text", "image", "pdf"],
    priceList: priceListAt(baseUrl),
  });
  const failures = new ProviderFailures(descriptor.name, apiKey, anthropicErrors);
  return {
    descriptor,
    format: anthropicFormat,
    async countTokens(request, signal) {
      try {
        const body = anthropicCountRequest(request, thinking);
        const client = await openClient();
        const response = await client.messages.countTokens(body, { signal }).asResponse();
        return tokenCountIn(await response.text());
      } catch (error) {
        signal.throwIfAborted();
        throw failures.ofException(error);
      }
    },
    async *stream(request, signal) {
      try {
        const body = anthropicRequest(request, thinking);
        const client = await openClient();
        const response = await client.messages.create(body, { signal }).asResponse();
        const { upstreamName } = request.model;
        yield* readAnswer(response, new MessageAssembly(), upstreamName, failures, signal);
      } catch (error) {
        signal.throwIfAborted();
        throw failures.ofException(error);
      }
    },
  };
}

function tokenCountIn(body: string): number {
  const [, digits] = /"input_tokens"\s*:\s*(\d+)/.exec(body) ?? [];
  const tokens = Number(digits ?? 0);
  if (tokens > 0) return tokens;
  throw new ModelFailure("malformed", "the provider returned no count of tokens");
}
