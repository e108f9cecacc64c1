/** One server-sent event. */
export interface ServerSentEvent {
  /** Its `event` field; empty: none. */
  readonly name: string;
  readonly data: string;
  /** Whether the bytes ended before the event did. */
  readonly isCut: boolean;
}

/** Characters that one event may have. */
const maxEventLength = 16 * 2 ** 20;

/**
 * Decodes server-sent events. Yields together what arrived together, so that a burst costs one turn of the loop. Bytes
 * may be split anywhere. Throws a RangeError at an endless event.
 */
export async function* serverSentEvents(
  bytes: AsyncIterable<Uint8Array>,
): AsyncIterable<readonly ServerSentEvent[]> {
  const decoder = new TextDecoder();
  const pending: PendingEvent = { name: "", data: undefined };
  let rest = "";
  for await (const piece of bytes) {
    const text = rest + decoder.decode(piece, { stream: true });
    const end = text.lastIndexOf("\n") + 1;
    rest = text.slice(end);
    if (rest.length + (pending.data?.length ?? 0) > maxEventLength) {
      throw new RangeError(`a server-sent event is longer than ${maxEventLength} characters`);
    }
    const events = takeLines(text, end, pending);
    if (events.length > 0) yield events;
  }
  take(rest, pending, []);
  if (pending.data !== undefined) {
    yield [{ name: pending.name, data: pending.data, isCut: true }];
  }
}

interface PendingEvent {
  name: string;
  data: string | undefined;
}

function takeLines(text: string, end: number, pending: PendingEvent): readonly ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  let start = 0;
  while (start < end) {
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
