import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { openaiGenerator, openaiMedia } from "../media/openai-media.ts";
import { openaiAddress, openaiClient, openaiErrors } from "../wire/openai-client.ts";
import { priceListAt } from "../wire/price-list.ts";
import { ProviderFailures } from "../wire/provider-failures.ts";
import type { ProviderOptions } from "../wire/provider-options.ts";
import { readAnswer } from "../wire/read-answer.ts";
import { TurnAssembly } from "./assemble-turn.ts";
import { chatFormat, chatRequest } from "./chat-request.ts";

/** Creates a provider that calls models over the chat completions API of OpenAI or of a compatible server. */
export function chatProvider(options: ProviderOptions): ModelProvider {
  const openClient = openaiClient(options);
  const maxTokensField = options.baseUrl === undefined ? "max_completion_tokens" : "max_tokens";
  const descriptor = create(ProviderDescriptorSchema, {
    name: options.name ?? "openai",
    capabilities: { tools: true, parallelToolCalls: true, reasoning: true },
    modalities: ["text", "image", "audio", "pdf"],
    generates: [...openaiMedia],
    priceList: priceListAt(options.baseUrl ?? openaiAddress),
  });
  const failures = new ProviderFailures(descriptor.name, options.apiKey, openaiErrors);
  return {
    descriptor,
    media: openaiGenerator(options, { failures, provider: descriptor.name }),
    format: chatFormat,
    async *stream(request, signal) {
      try {
        const body = chatRequest(request, maxTokensField);
        const client = await openClient();
        const response = await client.chat.completions.create(body, { signal }).asResponse();
        const { upstreamName } = request.model;
        yield* readAnswer(response, new TurnAssembly(), upstreamName, failures, signal);
      } catch (error) {
        signal.throwIfAborted();
        throw failures.ofException(error);
      }
    },
  };
}
