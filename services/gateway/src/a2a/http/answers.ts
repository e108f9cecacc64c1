import { formatSSEErrorEvent, formatSSEEvent } from "@a2a-js/sdk";
import type { JsonValue } from "@bufbuild/protobuf";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { HeartbeatInterval } from "@reeve/platform/async/with-heartbeats";
import { withHeartbeats } from "@reeve/platform/async/with-heartbeats";

const encoder = new TextEncoder();

/** Returns an answer with JSON. */
export function jsonAnswer(
  status: number,
  content: unknown,
  headers: Readonly<Record<string, string>> = {},
): UniversalServerResponse {
  const header = new Headers({
    "content-type": "application/json",
    "cache-control": "no-store",
    ...headers,
  });
  return { status, header, body: once(JSON.stringify(content)) };
}

/** A stream of events, each as the JSON that a client receives. */
export interface EventStream {
  readonly events: AsyncIterable<JsonValue>;
  /** Returns the JSON of an error that ends the stream. */
  errorOf(error: unknown): unknown;
}

/**
 * Returns an answer with server-sent events. An error before the first event is thrown, so that it can have a status; a later one is the
 * last event. An idle stream has comments as heartbeats.
 */
export async function streamAnswer(
  { events, errorOf }: EventStream,
  interval: HeartbeatInterval,
  signal: AbortSignal,
): Promise<UniversalServerResponse> {
  const iterator = events[Symbol.asyncIterator]();
  const first = await iterator.next();
  const header = new Headers({
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  async function* rest(): AsyncIterable<JsonValue> {
    try {
      if (first.done !== true) yield first.value;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  async function* body(): AsyncIterable<Uint8Array> {
    try {
      for await (const next of withHeartbeats(rest, interval, signal)) {
        yield encoder.encode(next === "heartbeat" ? ": heartbeat\n\n" : formatSSEEvent(next));
      }
    } catch (error) {
      yield encoder.encode(formatSSEErrorEvent(errorOf(error)));
    }
  }
  return { status: 200, header, body: body() };
}

async function* once(text: string): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(encoder.encode(text));
}
