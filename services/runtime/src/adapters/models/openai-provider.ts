import { create } from "@bufbuild/protobuf";
import OpenAI from "openai";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import type { ModelPart, ModelProvider, ModelRequest } from "../../ports/model-provider.ts";
import { ModelFailure } from "../../ports/model-provider.ts";
import { TurnAssembly } from "./assemble-turn.ts";
import { keepAliveFetch } from "./keep-alive-fetch.ts";
import { isFields } from "./merge-delta.ts";
import { openaiFailure, streamedFailure } from "./openai-failure.ts";
import type { MaxTokensField } from "./openai-request.ts";
import { openaiRequest } from "./openai-request.ts";
import type { ServerSentEvent } from "./server-sent-events.ts";
import { serverSentEvents } from "./server-sent-events.ts";

export interface OpenAIOptions {
  readonly apiKey: string;
  /** Undefined: OpenAI itself. */
  readonly baseUrl: string | undefined;
}

/** Calls models over the API of chat completions, of OpenAI or of any server that speaks it. */
export function openaiProvider({ apiKey, baseUrl }: OpenAIOptions): ModelProvider {
  const client = new OpenAI({
    apiKey,
    baseURL: baseUrl ?? "https://api.openai.com/v1",
    maxRetries: 0,
    // Its words may hold prompts.
    logLevel: "off",
    fetch: keepAliveFetch(),
  });
  const maxTokensField = baseUrl === undefined ? "max_completion_tokens" : "max_tokens";
  const descriptor = create(ProviderDescriptorSchema, {
    name: "openai",
    capabilities: { tools: true, parallelToolCalls: true, reasoning: true },
  });
  return {
    descriptor,
    async *stream(request, signal) {
      try {
        yield* answer(client, request, maxTokensField, signal);
      } catch (error) {
        signal.throwIfAborted();
        throw openaiFailure(error, descriptor.name);
      }
    },
  };
}

/** Text that arrives together is one part. */
async function* answer(
  client: OpenAI,
  request: ModelRequest,
  maxTokensField: MaxTokensField,
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  const body = openaiRequest(request, maxTokensField);
  const response = await client.chat.completions.create(body, { signal }).asResponse();
  if (response.body === null) throw new ModelFailure("malformed", "the answer has no body");
  const turn = new TurnAssembly();
  try {
    for await (const events of serverSentEvents(response.body)) {
      signal.throwIfAborted();
      const { parts, done } = take(events, turn, request.model.provider);
      yield* parts;
      if (done) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    // An answer that is whole stays so, whatever happens to its connection.
    if (!turn.isWhole || error instanceof ModelFailure) throw error;
  }
  yield { kind: "turn", turn: turn.finish(request.model.upstreamName) };
}

function take(
  events: readonly ServerSentEvent[],
  turn: TurnAssembly,
  provider: string,
): { readonly parts: readonly ModelPart[]; readonly done: boolean } {
  const parts: { kind: "text" | "reasoning"; text: string }[] = [];
  const say = (kind: "text" | "reasoning", text: string) => {
    if (text === "") return;
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += text;
    else parts.push({ kind, text });
  };
  for (const event of events) {
    if (event.data === "[DONE]") return { parts, done: true };
    const chunk = chunkOf(event);
    if (chunk === undefined) break;
    if (event.name === "error" || (isFields(chunk) && isFields(chunk["error"]))) {
      throw streamedFailure(isFields(chunk) ? (chunk["error"] ?? chunk) : chunk, provider);
    }
    const { reasoning, text } = turn.add(chunk);
    say("reasoning", reasoning);
    say("text", text);
  }
  return { parts, done: false };
}

/** What an event says; undefined when the end of the answer cuts it. */
function chunkOf({ data, isCut }: ServerSentEvent): unknown {
  try {
    return JSON.parse(data);
  } catch {
    if (isCut) return undefined;
    // The exception is left out: it quotes what it could not read, which may be an answer.
    throw new ModelFailure("malformed", "the provider sent a chunk that is not JSON");
  }
}
