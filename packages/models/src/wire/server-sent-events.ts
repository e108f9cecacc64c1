import { createParser } from "eventsource-parser";
import { ModelFailure } from "@reeve/engine/ports/model-provider";

/** One server-sent event. */
export interface ServerSentEvent {
  /** Its `event` field; empty if it has none. */
  readonly name: string;
  readonly data: string;
  /** Whether the bytes ended before the event did. */
  readonly isCut: boolean;
}

/** Bytes of one answer, far more than any model sends. */
const maxBytes = 64 * 2 ** 20;

/**
 * Decodes server-sent events whose bytes may be split anywhere. Yields the events of one chunk together, so that a burst
 * costs one turn of the event loop. Also yields an event that the end of the bytes cuts. Throws a ModelFailure when there
 * are more than 64 MiB.
 */
export async function* serverSentEvents(
  bytes: AsyncIterable<Uint8Array>,
): AsyncIterable<readonly ServerSentEvent[]> {
  let events: ServerSentEvent[] = [];
  let isCut = false;
  const parser = createParser({
    onEvent: ({ event = "", data }) => events.push({ name: event, data, isCut }),
  });
  const parse = (text: string) => {
    events = [];
    parser.feed(text);
    return events;
  };
  const decoder = new TextDecoder();
  let received = 0;
  for await (const chunk of bytes) {
    received += chunk.length;
    if (received > maxBytes) {
      throw new ModelFailure("malformed", `the answer is longer than ${maxBytes} bytes`);
    }
    const parsed = parse(decoder.decode(chunk, { stream: true }));
    if (parsed.length > 0) yield parsed;
  }
  isCut = true;
  const cut = parse("\n\n");
  if (cut.length > 0) yield cut;
}
