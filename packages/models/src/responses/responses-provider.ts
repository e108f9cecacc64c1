import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { openaiGenerator, openaiMedia } from "../media/openai-media.ts";
import { openaiAddress, openaiClient, openaiErrors } from "../wire/openai-client.ts";
import { priceListAt } from "../wire/price-list.ts";
import { ProviderFailures } from "../wire/provider-failures.ts";
import type { ProviderOptions } from "../wire/provider-options.ts";
import { readAnswer } from "../wire/read-answer.ts";
import { ResponseAssembly } from "./assemble-response.ts";
import type { ReasoningSummary } from "./responses-request.ts";
import { responsesFormat, responsesRequest } from "./responses-request.ts";

export interface ResponsesOptions extends ProviderOptions {
  /** Undefined: no summaries of reasoning. OpenAI sends them only to verified organizations. */
  readonly reasoningSummary?: ReasoningSummary | undefined;
}

/** Creates a provider that calls models over the Responses API of OpenAI or of a compatible server. */
export function responsesProvider(options: ResponsesOptions): ModelProvider {
  const openClient = openaiClient(options);
  const descriptor = create(ProviderDescriptorSchema, {
    name: options.name ?? "openai",
    capabilities: { tools: true, parallelToolCalls: true, reasoning: true },
    modalities: ["text", "image", "pdf"],
    generates: [...openaiMedia],
    priceList: priceListAt(options.baseUrl ?? openaiAddress),
  });
  const failures = new ProviderFailures(descriptor.name, options.apiKey, openaiErrors);
  return {
    descriptor,
    media: openaiGenerator(options, { failures, provider: descriptor.name }),
    format: responsesFormat,
    async *stream(request, signal) {
      try {
        const body = responsesRequest(request, options.reasoningSummary);
        const client = await openClient();
        const response = await client.responses.create(body, { signal }).asResponse();
        const { upstreamName } = request.model;
        yield* readAnswer(response, new ResponseAssembly(failures), upstreamName, failures, signal);
      } catch (error) {
        signal.throwIfAborted();
        throw failures.ofException(error);
      }
    },
  };
}
