import type { Span } from "@opentelemetry/api";
import { context, SpanKind } from "@opentelemetry/api";
import type { MediaGenerator, MediaPart } from "@reeve/engine/ports/media-generator";
import { attributes, operations } from "@reeve/platform/telemetry/span-names";
import { contextOf, isTraced, iterateIn, startSpan } from "@reeve/platform/telemetry/spans";
import { failCallSpan } from "./fail-call-span.ts";

/** Wraps a generator, and creates a span for each generation below the active span. */
export function tracedMedia(generator: MediaGenerator): MediaGenerator {
  return {
    generate(request, signal) {
      const { provider, upstreamName } = request.model;
      const parent = context.active();
      const span = startSpan(
        `${operations.generateContent} ${upstreamName}`,
        {
          kind: SpanKind.CLIENT,
          attributes: {
            [attributes.operation]: operations.generateContent,
            [attributes.provider]: provider,
            [attributes.requestModel]: upstreamName,
            [attributes.outputType]: request.kind,
          },
        },
        parent,
      );
      if (!isTraced(span)) return generator.generate(request, signal);
      const within = contextOf(span, parent);
      const parts = context.with(within, () => generator.generate(request, signal));
      return recorded(span, iterateIn(within, parts), signal);
    },
  };
}

async function* recorded(
  span: Span,
  parts: AsyncIterable<MediaPart>,
  signal: AbortSignal,
): AsyncIterable<MediaPart> {
  try {
    for await (const part of parts) {
      if (part.kind === "usage") {
        span.setAttribute(attributes.inputTokens, part.inputTokens);
        span.setAttribute(attributes.outputTokens, part.outputTokens);
      }
      yield part;
    }
  } catch (error) {
    failCallSpan(span, error, signal);
    throw error;
  } finally {
    span.end();
  }
}
