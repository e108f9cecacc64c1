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
import { reasonName } from "../rpc/connect-failure.ts";
import { attributes } from "./span-names.ts";

/** The header by which a trace goes from one process to another, over HTTP and NATS alike. */
export const traceparentHeader = "traceparent";

const tracer = trace.getTracer("reeve");
const pattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** A span that is to be ended by its caller. Without a tracer it is one that nobody records. */
export function startSpan(name: string, options: SpanOptions, parent: Context): Span {
  return tracer.startSpan(name, options, parent);
}

/** The context of `span`, below `parent`. */
export function contextOf(span: Span, parent: Context): Context {
  return trace.setSpan(parent, span);
}

/** Whether a span belongs to a trace, recorded or not: then what is below it has to know. */
export function isTraced(span: Span | undefined): span is Span {
  return span !== undefined && isSpanContextValid(span.spanContext());
}

/** The W3C trace context of a span, of the active one when none is given; empty: nothing is traced. */
export function traceparentOf(span: Span | undefined = trace.getActiveSpan()): string {
  if (!isTraced(span)) return "";
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

/** The context in which spans are children of the one that `traceparent` names; the root when it names none. */
export function contextFrom(traceparent: string): Context {
  const remote = spanContextFrom(traceparent);
  return remote === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote);
}

/** Links to the spans that are named. */
export function linksTo(traceparents: readonly string[]): Link[] {
  return traceparents.flatMap((traceparent) => {
    const context = spanContextFrom(traceparent);
    return context === undefined ? [] : [{ context }];
  });
}

/** Whether both name spans of one trace. */
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

/** Does `work` in a span below `parent`, which ends with it. What is thrown passes, and is told by its kind alone. */
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

/** As `inSpan` below the active span; without one there is none, so that nothing begins a trace by the way. */
export async function inChildSpan<Result>(
  name: string,
  options: SpanOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!isTraced(trace.getActiveSpan())) return await work();
  return await inSpan(name, options, context.active(), work);
}

/**
 * Says that what the span is about failed, without a word of what was said: messages hold contents. What somebody ended has
 * not failed.
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

/** `items`, each asked for in `within`: a generator works in the context of whoever asks it. */
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
