import type { Context, Link, Span, SpanContext, SpanOptions } from "@opentelemetry/api";
import {
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import { Failure } from "../failure.ts";
import { reasonName } from "../reason-name.ts";
import { attributes } from "./span-names.ts";

/** The header that propagates a trace between processes, over HTTP and NATS. */
export const traceparentHeader = "traceparent";

const tracer = trace.getTracer("reeve");
const pattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Starts a span, which the caller has to end. Without a tracer, the span is not recorded. */
export function startSpan(name: string, options: SpanOptions, parent: Context): Span {
  return tracer.startSpan(name, options, parent);
}

/** Returns a context in which `span` is active, derived from `parent`. */
export function contextOf(span: Span, parent: Context): Context {
  return trace.setSpan(parent, span);
}

/** Whether a span belongs to a trace, even one that is not recorded: its children then need the trace context. */
export function isTraced(span: Span | undefined): span is Span {
  return span !== undefined && isSpanContextValid(span.spanContext());
}

/** Returns the W3C trace context of a span, by default of the active one. Returns "" if there is no trace. */
export function traceparentOf(span: Span | undefined = trace.getActiveSpan()): string {
  if (!isTraced(span)) return "";
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

/** Returns a context in which new spans are children of the span in `traceparent`; the root context if that is not valid. */
export function contextFrom(traceparent: string): Context {
  const remote = spanContextFrom(traceparent);
  return remote === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote);
}

/** Returns links to the spans in `traceparents`. Skips invalid ones. */
export function linksTo(traceparents: readonly string[]): Link[] {
  return traceparents.flatMap((traceparent) => {
    const context = spanContextFrom(traceparent);
    return context === undefined ? [] : [{ context }];
  });
}

/** Whether two trace contexts belong to the same trace. */
export function isSameTrace(one: string, other: string): boolean {
  const traceId = spanContextFrom(one)?.traceId;
  return traceId !== undefined && traceId === spanContextFrom(other)?.traceId;
}

function spanContextFrom(traceparent: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = pattern.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const remote = { traceId, spanId, traceFlags, isRemote: true };
  return isSpanContextValid(remote) ? remote : undefined;
}

/** Runs `work` in a span below `parent`. Rethrows its error, and records only the error's type in the span. */
export async function inSpan<Result>(
  name: string,
  options: SpanOptions,
  parent: Context,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  const span = startSpan(name, options, parent);
  if (!isTraced(span)) return await work(span);
  try {
    return await context.with(contextOf(span, parent), () => work(span));
  } catch (error) {
    failSpan(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Like `inSpan`, below the active span. Without an active span it creates none, so that no trace begins by accident. */
export async function inChildSpan<Result>(
  name: string,
  options: SpanOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!isTraced(trace.getActiveSpan())) return await work();
  return await inSpan(name, options, context.active(), work);
}

/**
 * Marks a span as failed, with the type of the error but not its message, because messages contain content. An AbortError is
 * marked as cancelled, not as failed.
 */
export function failSpan(span: Span, error: unknown): void {
  if (error instanceof DOMException && error.name === "AbortError") {
    span.setAttribute(attributes.errorType, "cancelled");
    return;
  }
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute(attributes.errorType, errorType(error));
}

function errorType(error: unknown): string {
  if (error instanceof Failure) return reasonName(error.reason);
  return error instanceof Error ? error.name : "unknown";
}

/** Iterates `items` in the context `within`: a generator otherwise runs in the context of its caller. */
export async function* iterateIn<Item>(
  within: Context,
  items: AsyncIterable<Item>,
): AsyncIterable<Item> {
  const iterator = items[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const next = await context.with(within, () => iterator.next());
      isOver = next.done === true;
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    isOver = true;
    throw error;
  } finally {
    if (!isOver) await context.with(within, () => iterator.return?.());
  }
}
