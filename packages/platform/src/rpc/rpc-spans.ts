import type { Context, Span } from "@opentelemetry/api";
import { context, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { isOpenService } from "./principal.ts";
import { attributes } from "../telemetry/span-names.ts";
import {
  contextFrom,
  contextOf,
  isTraced,
  iterateIn,
  startSpan,
  traceparentHeader,
  traceparentOf,
} from "../telemetry/spans.ts";

type Request = UnaryRequest | StreamRequest;

/** A span for each request that is served, below the caller's; health and reflection have none. */
export function traceServerRequests(): Interceptor {
  return (next) => async (request) => {
    if (isOpenService(request.service)) return await next(request);
    const parent = contextFrom(request.header.get(traceparentHeader) ?? "");
    const options = { kind: SpanKind.SERVER, attributes: described(request) };
    const span = startSpan(methodOf(request), options, parent);
    if (!isTraced(span)) return await next(request);
    return await within(span, parent, request, next);
  };
}

/** A span for each request that is made, which the server learns of. */
export function traceClientRequests(): Interceptor {
  return (next) => async (request) => {
    const parent = context.active();
    const options = { kind: SpanKind.CLIENT, attributes: described(request) };
    const span = startSpan(methodOf(request), options, parent);
    if (!isTraced(span)) return await next(request);
    request.header.set(traceparentHeader, traceparentOf(span));
    return await within(span, parent, request, next);
  };
}

/** The request in its span, which ends with the last message of the answer. */
async function within(
  span: Span,
  parent: Context,
  request: Request,
  next: Parameters<Interceptor>[0],
): ReturnType<Parameters<Interceptor>[0]> {
  const inside = contextOf(span, parent);
  try {
    const response = await context.with(inside, () => next(request));
    if (response.stream) {
      return { ...response, message: ending(span, request, iterateIn(inside, response.message)) };
    }
    end(span, request, undefined);
    return response;
  } catch (error) {
    end(span, request, ConnectError.from(error).code);
    throw error;
  }
}

async function* ending<Item>(
  span: Span,
  request: Request,
  items: AsyncIterable<Item>,
): AsyncIterable<Item> {
  // Left in the middle: the other side has gone.
  let code: Code | undefined = Code.Canceled;
  try {
    yield* items;
    code = undefined;
  } catch (error) {
    ({ code } = ConnectError.from(error));
    throw error;
  } finally {
    end(span, request, code);
  }
}

function methodOf({ service, method }: Request): string {
  return `${service.typeName}/${method.name}`;
}

function described(request: Request): Record<string, string> {
  return {
    [attributes.rpcSystem]: isGrpc(request) ? "grpc" : "connectrpc",
    [attributes.rpcMethod]: methodOf(request),
  };
}

function isGrpc({ header }: Request): boolean {
  return (header.get("content-type") ?? "").startsWith("application/grpc");
}

/** Those that say something of the server; of the others it is the caller who has to know. */
const faults: ReadonlySet<Code> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

function end(span: Span, request: Request, code: Code | undefined): void {
  const name = code === undefined ? "ok" : snakeCase(Code[code]);
  const status = isGrpc(request) ? name.toUpperCase() : name;
  if (code !== undefined || isGrpc(request)) span.setAttribute(attributes.rpcStatus, status);
  if (code !== undefined && faults.has(code)) {
    span.setAttribute(attributes.errorType, status);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

function snakeCase(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}
