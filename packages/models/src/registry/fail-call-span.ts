import type { Span } from "@opentelemetry/api";
import { SpanStatusCode } from "@opentelemetry/api";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { attributes } from "@reeve/platform/telemetry/span-names";
import { failSpan } from "@reeve/platform/telemetry/spans";

/** Records why a call of a model failed. An aborted call is not a failure. */
export function failCallSpan(span: Span, error: unknown, signal: AbortSignal): void {
  failSpan(span, error);
  if (error instanceof ModelFailure) span.setAttribute(attributes.errorType, error.reason);
  if (!signal.aborted) return;
  span.setStatus({ code: SpanStatusCode.UNSET });
  span.setAttribute(attributes.errorType, "cancelled");
}
