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

/** Creates a server span for each request, as a child of the caller's span. Health and reflection have none. */
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

/** Creates a client span for each request, and propagates it to the server. */
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

/** Sends the request inside `span`, which ends with the last message of the response. */
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
  // The code if the reader leaves the stream before its end.
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

/** The codes that mean a fault of the server, as opposed to one of the caller. */
const serverFaults: ReadonlySet<Code> = new Set([
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
  if (code !== undefined && serverFaults.has(code)) {
    span.setAttribute(attributes.errorType, status);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

function snakeCase(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}
