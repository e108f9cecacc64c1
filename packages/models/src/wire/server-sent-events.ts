import { ModelFailure } from "@reeve/engine/ports/model-provider";

/** One server-sent event. */
export interface ServerSentEvent {
  /** Its `event` field; empty: none. */
  readonly name: string;
  readonly data: string;
  /** Whether the bytes ended before the event did. */
  readonly isCut: boolean;
}

/** Bytes of one answer: far more than any model says. */
const maxBytes = 64 * 2 ** 20;

/**
 * Decodes server-sent events. Yields together what arrived together, so that a burst costs one turn of the loop. Bytes
 * may be split anywhere. Throws a ModelFailure when there is no end to them.
 */
export async function* serverSentEvents(
  bytes: AsyncIterable<Uint8Array>,
): AsyncIterable<readonly ServerSentEvent[]> {
  const decoder = new TextDecoder();
  const pending: PendingEvent = { name: "", data: undefined };
  let rest = "";
  let received = 0;
  for await (const piece of bytes) {
    received += piece.length;
    if (received > maxBytes) {
      throw new ModelFailure("malformed", `the answer is longer than ${maxBytes} bytes`);
    }
    const next = decoder.decode(piece, { stream: true });
    const lastLine = next.lastIndexOf("\n") + 1;
    if (lastLine === 0) {
      rest += next;
      continue;
    }
    const text = rest + next.slice(0, lastLine);
    rest = next.slice(lastLine);
    const events = takeLines(text, pending);
    if (events.length > 0) yield events;
  }
  const last: ServerSentEvent[] = [];
  if (rest !== "") take(rest, pending, last);
  if (last.length > 0) yield last;
  if (pending.data !== undefined) {
    yield [{ name: pending.name, data: pending.data, isCut: true }];
  }
}

interface PendingEvent {
  name: string;
  data: string | undefined;
}

function takeLines(text: string, pending: PendingEvent): readonly ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  let start = 0;
  while (start < text.length) {
    const lineEnd = text.indexOf("\n", start);
    take(text.slice(start, lineEnd), pending, events);
    start = lineEnd + 1;
  }
  return events;
}

function take(line: string, pending: PendingEvent, events: ServerSentEvent[]): void {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  if (text === "") {
    const { name, data } = pending;
    if (data !== undefined) events.push({ name, data, isCut: false });
    pending.name = "";
    pending.data = undefined;
    return;
  }
  const colon = text.indexOf(":");
  const field = colon === -1 ? text : text.slice(0, colon);
  const value = colon === -1 ? "" : text.slice(text[colon + 1] === " " ? colon + 2 : colon + 1);
  if (field === "data") {
    pending.data = pending.data === undefined ? value : `${pending.data}\n${value}`;
  } else if (field === "event") pending.name = value;
}
