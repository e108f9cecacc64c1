import type { JsonObject } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import type { EnvelopedMessage, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { transformSplitEnvelope } from "@connectrpc/connect/protocol";
import {
  codeToHttpStatus,
  endStreamFlag,
  endStreamFromJson,
  errorToJson,
} from "@connectrpc/connect/protocol-connect";
import type { PlainEvents } from "./plain-route.ts";

const maxMessageBytes = 0xffff_ffff;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface StreamRequest {
  readonly events: PlainEvents;
  readonly accept: string | undefined;
  readonly isResumed: boolean;
}

/**
 * Converts a stream of the Connect protocol into server-sent events, or into one JSON message per line for a client that
 * accepts `application/x-ndjson`. A refusal before the first message is an HTTP status with the error as JSON; an error after
 * it is the last event or line.
 */
export async function plainStream(
  answer: UniversalServerResponse,
  { events, accept = "", isResumed }: StreamRequest,
): Promise<UniversalServerResponse> {
  if (answer.status !== 200 || answer.body === undefined) return answer;
  const envelopes = transformSplitEnvelope(maxMessageBytes)(answer.body)[Symbol.asyncIterator]();
  const { value: first } = await envelopes.next();
  const error = first === undefined ? undefined : errorOf(first);
  if (error !== undefined) {
    await envelopes.return?.();
    return jsonAnswer(statusOf(error.code), errorToJson(error, undefined));
  }
  const isLines = /\bapplication\/(?:x-)?ndjson\b/.test(accept);
  if (!isLines && isResumed && first !== undefined && events.isOver(messageOf(first))) {
    await envelopes.return?.();
    return { status: 204, header: new Headers() };
  }
  const render = isLines ? asLine : asEvents(events);
  const type = isLines ? "application/x-ndjson" : "text/event-stream; charset=utf-8";
  const header = new Headers({ "content-type": type, "cache-control": "no-store" });
  return { status: 200, header, body: rendered(first, envelopes, render) };
}

/** The events that the client has are gone from the store. That is no error of the server, for which a client would retry. */
function statusOf(code: Code): number {
  return code === Code.DataLoss ? 410 : codeToHttpStatus(code);
}

type Render = (envelope: EnvelopedMessage) => string;

async function* rendered(
  first: EnvelopedMessage | undefined,
  rest: AsyncIterator<EnvelopedMessage>,
  render: Render,
): AsyncIterable<Uint8Array> {
  try {
    for (let next = first; next !== undefined; next = (await rest.next()).value) {
      const text = render(next);
      if (text !== "") yield encoder.encode(text);
    }
  } finally {
    await rest.return?.();
  }
}

const asLine: Render = (envelope) => {
  if (!isEnd(envelope)) return `${decoder.decode(envelope.data)}\n`;
  const error = errorOf(envelope);
  return error === undefined ? "" : `${JSON.stringify({ error: errorToJson(error, undefined) })}\n`;
};

function asEvents(events: PlainEvents): Render {
  return (envelope) => {
    if (!isEnd(envelope)) return events.render(messageOf(envelope));
    const error = errorOf(envelope);
    if (error === undefined) return "";
    return `event: error\ndata: ${JSON.stringify(errorToJson(error, undefined))}\n\n`;
  };
}

function isEnd({ flags }: EnvelopedMessage): boolean {
  return (flags & endStreamFlag) === endStreamFlag;
}

function errorOf(envelope: EnvelopedMessage) {
  return isEnd(envelope) ? endStreamFromJson(envelope.data).error : undefined;
}

function messageOf(envelope: EnvelopedMessage): JsonObject {
  // The protocol wrote a message, whose JSON is an object.
  return isEnd(envelope) ? {} : (JSON.parse(decoder.decode(envelope.data)) as JsonObject);
}

function jsonAnswer(status: number, content: JsonObject): UniversalServerResponse {
  const header = new Headers({ "content-type": "application/json" });
  return { status, header, body: once(encoder.encode(JSON.stringify(content))) };
}

async function* once(body: Uint8Array): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(body);
}
