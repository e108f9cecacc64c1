import type { Attributes, Span } from "@opentelemetry/api";
import { context, SpanKind } from "@opentelemetry/api";
import { contentAttribute } from "@reeve/platform/telemetry/span-content";
import { attributes, operations } from "@reeve/platform/telemetry/span-names";
import { contextOf, isTraced, iterateIn, startSpan } from "@reeve/platform/telemetry/spans";
import type {
  ModelPart,
  ModelProvider,
  ModelRequest,
  ModelTurn,
} from "@reeve/engine/ports/model-provider";
import { failCallSpan } from "./fail-call-span.ts";
import { tracedMedia } from "./traced-media.ts";
import { answerParts, promptParts } from "../wire/message-parts.ts";

/** Wraps a provider, and creates a span for each call below the active span. */
export function tracedProvider(provider: ModelProvider): ModelProvider {
  return {
    descriptor: provider.descriptor,
    format: provider.format,
    countTokens: provider.countTokens,
    media: provider.media && tracedMedia(provider.media),
    stream(request, signal) {
      const parent = context.active();
      const name = `${operations.chat} ${request.model.upstreamName}`;
      const options = { kind: SpanKind.CLIENT, attributes: requestAttributes(request) };
      const span = startSpan(name, options, parent);
      if (!isTraced(span)) return provider.stream(request, signal);
      const within = contextOf(span, parent);
      const parts = context.with(within, () => provider.stream(request, signal));
      return recorded(span, iterateIn(within, parts), signal);
    },
  };
}

async function* recorded(
  span: Span,
  parts: AsyncIterable<ModelPart>,
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  const startedAt = performance.now();
  let hasStarted = false;
  let text = "";
  try {
    for await (const part of parts) {
      if (!hasStarted) {
        span.setAttribute(attributes.timeToFirstChunk, (performance.now() - startedAt) / 1_000);
      }
      hasStarted = true;
      if (part.kind === "text") text += part.text;
      if (part.kind === "turn") span.setAttributes(answerAttributes(part.turn, text));
      yield part;
    }
  } catch (error) {
    failCallSpan(span, error, signal);
    throw error;
  } finally {
    span.end();
  }
}

function requestAttributes(request: ModelRequest): Attributes {
  const { model, instructions, messages, maxTokens, temperature } = request;
  return {
    [attributes.operation]: operations.chat,
    [attributes.provider]: model.provider,
    [attributes.requestModel]: model.upstreamName,
    ...(maxTokens !== undefined && { [attributes.requestMaxTokens]: maxTokens }),
    ...(temperature !== undefined && { [attributes.requestTemperature]: temperature }),
    ...contentAttribute(attributes.instructions, () => [{ type: "text", content: instructions }]),
    ...contentAttribute(attributes.inputMessages, () => promptParts(messages)),
  };
}

function answerAttributes(turn: ModelTurn, text: string): Attributes {
  const { model, finishReason, usage } = turn;
  return {
    [attributes.responseModel]: model,
    [attributes.finishReasons]: [finishReason],
    ...(usage && {
      [attributes.inputTokens]: usage.inputTokens,
      [attributes.outputTokens]: usage.outputTokens,
      [attributes.cachedTokens]: usage.cachedInputTokens,
      [attributes.cacheWriteTokens]: usage.cacheWriteInputTokens,
      [attributes.reasoningTokens]: usage.reasoningTokens,
    }),
    ...contentAttribute(attributes.outputMessages, () => answerParts(text, turn)),
  };
}
