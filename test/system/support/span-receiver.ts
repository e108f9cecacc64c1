import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { parse } from "protobufjs";

/** An exported span. */
export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentId: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  /** The linked spans, as `<trace id>-<span id>`. */
  readonly links: readonly string[];
  readonly isError: boolean;
}

/** A collector of spans: OTLP over HTTP with protobuf, on loopback. */
export interface SpanReceiver extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** The raw bytes of all requests, to search for text that they must not contain. */
  readonly raw: readonly Buffer[];
  /** Resolves with the spans as soon as `isEnough` returns true. */
  until(isEnough: (spans: readonly ReceivedSpan[]) => boolean): Promise<readonly ReceivedSpan[]>;
  /** Accepts all further requests without answering them. Resolves when one has arrived. */
  hang(): Promise<void>;
}

/** The fields of OTLP that the receiver reads, by their numbers. */
const { root } = parse(`
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message ArrayValue { repeated AnyValue values = 1; }
  message AnyValue {
    oneof value {
      string string_value = 1;
      bool bool_value = 2;
      int64 int_value = 3;
      double double_value = 4;
      ArrayValue array_value = 5;
    }
  }
  message Event { string name = 2; }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Status { int32 code = 3; }
  message Span {
    bytes trace_id = 1;
    bytes span_id = 2;
    bytes parent_span_id = 4;
    string name = 5;
    repeated KeyValue attributes = 9;
    repeated Event events = 11;
    repeated Link links = 13;
    Status status = 15;
  }
`);
const request = root.lookupType("Request");

interface Values {
  readonly key: string;
  readonly value?: Readonly<Record<string, unknown>>;
}
interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Values[] };
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[];
  }[];
}
interface ExportedSpan {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly parentSpanId: Uint8Array;
  readonly name: string;
  readonly attributes: readonly Values[];
  readonly events: readonly { readonly name: string }[];
  readonly links: readonly { readonly traceId: Uint8Array; readonly spanId: Uint8Array }[];
  readonly status?: { readonly code: number } | null;
}

export async function receiveSpans(): Promise<SpanReceiver> {
  const spans: ReceivedSpan[] = [];
  const raw: Buffer[] = [];
  const waiting = new Set<() => void>();
  let hung: PromiseWithResolvers<void> | undefined;
  const server = createServer((incoming, response) => {
    if (hung !== undefined) return hung.resolve();
    take(incoming).then(
      () => response.writeHead(200, { "content-type": "application/x-protobuf" }).end(),
      () => response.destroy(),
    );
  });
  const take = async (incoming: IncomingMessage) => {
    const body = await bodyOf(incoming);
    raw.push(body);
    spans.push(...spansIn(body));
    for (const look of waiting) look();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP listener has an address and a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    raw,
    async until(isEnough) {
      const { promise, resolve } = Promise.withResolvers<readonly ReceivedSpan[]>();
      const look = () => (isEnough(spans) ? resolve(spans) : undefined);
      waiting.add(look);
      look();
      return await promise.finally(() => waiting.delete(look));
    },
    async hang() {
      hung ??= Promise.withResolvers<void>();
      await hung.promise;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return incoming.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
}

function spansIn(body: Buffer): readonly ReceivedSpan[] {
  const decoded = request.toObject(request.decode(body), { arrays: true, longs: Number });
  // The type that decoded the message determines its content.
  const { resourceSpans } = decoded as Exported;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(recordOf(resource.attributes)["service.name"]);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => received(service, span)));
  });
}

function received(service: string, span: ExportedSpan): ReceivedSpan {
  return {
    service,
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentId: hex(span.parentSpanId ?? new Uint8Array()),
    name: span.name,
    attributes: recordOf(span.attributes),
    events: span.events.map(({ name }) => name),
    links: span.links.map(({ traceId, spanId }) => `${hex(traceId)}-${hex(spanId)}`),
    isError: span.status?.code === 2,
  };
}

function recordOf(values: readonly Values[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(values.map(({ key, value = {} }) => [key, plain(value)]));
}

/** Returns the single member of a value; for a list, those of its values. */
function plain(value: Readonly<Record<string, unknown>>): unknown {
  const [member] = Object.values(value);
  if (typeof member !== "object" || member === null || !("values" in member)) return member;
  return (member.values as readonly Readonly<Record<string, unknown>>[]).map(plain);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
