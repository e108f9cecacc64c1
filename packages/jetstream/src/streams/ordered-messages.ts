import type { ConsumerMessages, JetStreamManager, JsMsg } from "@nats-io/jetstream";
import { AckPolicy, DeliverPolicy, jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { nanos } from "@nats-io/transport-node";
import { onAbort } from "@reeve/platform/async/on-abort";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { callStore } from "./call-store.ts";
import { openJetStreamManager } from "./ensure-stream.ts";
import { storeFailure } from "./errors.ts";

/** The server removes the consumer of a process that died after this time. */
const inactiveMs = 30_000;

/** A place in a stream. */
export interface StreamPosition {
  /** Identifies the stream: one that was deleted and created again has another identity. */
  readonly instance: string;
  /** The sequence of a message; 0 is before the first one. */
  readonly sequence: number;
}

/** Consecutive messages, and the sequence that the reader has reached with them. */
export interface OrderedMessages {
  readonly messages: readonly JsMsg[];
  readonly sequence: number;
}

/** What to read, and in which portions. */
export interface OrderedRead {
  readonly stream: string;
  readonly after: StreamPosition;
  /** How many messages one pull asks for. The next pull follows when all were processed, so a slow reader holds no more. */
  readonly maxPulled: number;
  /** How long one pull waits for messages. A stream that was replaced is noticed after a pull without any. */
  readonly pullMs: number;
  /** How many messages, and bytes apart from the last message, are yielded together at most. */
  readonly maxTogether: { readonly messages: number; readonly bytes: number };
}

/** Returns what identifies a stream, and the sequence of its last message. Asks the leader, which has all writes. */
export async function streamPosition(
  { streams }: Pick<JetStreamManager, "streams">,
  stream: string,
): Promise<StreamPosition> {
  const { created, state } = await callStore(() => streams.info(stream));
  return { instance: created, sequence: state.last_seq };
}

/**
 * Yields the messages of a stream after a position, in order and without acknowledgements, then each new one. Messages that have
 * arrived together are yielded together; without messages, a sequence that was reached because what was there is deleted. Throws
 * a Failure of kind `unavailable` when the store is lost, when a message was missed, and when the stream was replaced or has lost
 * messages that came before the position.
 */
export async function* orderedMessages(
  connection: NatsConnection,
  { stream, after, maxPulled, pullMs, maxTogether }: OrderedRead,
  signal: AbortSignal,
): AsyncIterable<OrderedMessages> {
  const manager = await openJetStreamManager(connection);
  const consumer = await callStore(() => openConsumer(connection, manager, stream, after));
  const state = connectionStateOf(connection);
  let delivered = 0;
  let { sequence } = after;
  const inOrder = (message: JsMsg): JsMsg => {
    // Without acknowledgements, a message that is lost with its connection is not delivered again.
    if (message.info.deliverySequence !== ++delivered) throw missed(stream, sequence);
    sequence = message.seq;
    return message;
  };
  try {
    for (;;) {
      const before = delivered;
      const pulled = await callStore(() =>
        consumer.fetch({ max_messages: maxPulled, expires: pullMs }),
      );
      using pulling = new DisposableStack();
      pulling.use(onAbort(signal, () => pulled.stop()));
      // Messages may have been lost with the connection, and the consumer with its server.
      pulling.defer(state.onChange((isUp) => isUp && pulled.stop()));
      for await (const received of together(pulled, maxTogether)) {
        yield { messages: received.map(inOrder), sequence };
        signal.throwIfAborted();
      }
      signal.throwIfAborted();
      if (delivered > before) continue;
      const last = await streamPosition(manager, stream);
      assertFollows({ instance: after.instance, sequence }, last, stream);
      const info = await callStore(() => consumer.info());
      // What was sent to no pull of now does not arrive any more, and no later message shows it.
      if (info.delivered.consumer_seq !== delivered) throw missed(stream, sequence);
      // The last messages may have been removed before they were delivered. The server of the consumer may lag instead.
      const isBehind = info.num_pending === 0 && last.sequence > sequence;
      if (isBehind && (await isRemoved(manager, stream, { after: sequence, last }))) {
        yield { messages: [], sequence: (sequence = last.sequence) };
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    throw storeFailure(error);
  } finally {
    void consumer.delete().catch(() => undefined);
  }
}

async function openConsumer(
  connection: NatsConnection,
  manager: JetStreamManager,
  stream: string,
  after: StreamPosition,
) {
  const { name } = await manager.consumers.add(stream, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: after.sequence + 1,
    inactive_threshold: nanos(inactiveMs),
    mem_storage: true,
    num_replicas: 1,
  });
  // Read after the consumer was created: it belongs to this stream, or to one that came before it and ends with it.
  assertFollows(after, await streamPosition(manager, stream), stream);
  return await jetstream(connection).consumers.get(stream, name);
}

/** Returns whether a stream has none of its messages between two sequences any more. Asks the leader, which has all writes. */
async function isRemoved(
  { streams }: Pick<JetStreamManager, "streams">,
  stream: string,
  { after, last }: { readonly after: number; readonly last: StreamPosition },
): Promise<boolean> {
  const query = { seq: after + 1, next_by_subj: ">" };
  const next = await callStore(() => streams.getMessage(stream, query));
  if (next !== null) return next.seq > last.sequence;
  // A leader that is new may have less than the one that named the last sequence.
  const now = await streamPosition({ streams }, stream);
  return now.instance === last.instance && now.sequence >= last.sequence;
}

/** Throws a Failure if a stream does not have what a reader has read from it. */
function assertFollows(read: StreamPosition, last: StreamPosition, stream: string): void {
  if (last.instance !== read.instance) {
    throw storeUnavailable(new Error(`stream ${stream} was deleted and created again`));
  }
  if (last.sequence < read.sequence) {
    const problem = `stream ${stream} ends at ${last.sequence}, before ${read.sequence}, which was read from it`;
    throw storeUnavailable(new Error(problem));
  }
}

/** Yields the messages that have arrived together. */
async function* together(
  pulled: ConsumerMessages,
  max: OrderedRead["maxTogether"],
): AsyncIterable<readonly JsMsg[]> {
  let group: JsMsg[] = [];
  let bytes = 0;
  for await (const message of pulled) {
    group.push(message);
    bytes += message.data.length;
    const isFull = group.length === max.messages || bytes >= max.bytes;
    if (pulled.getPending() > 0 && !isFull) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}

function missed(stream: string, sequence: number): Error {
  return storeUnavailable(new Error(`a message of stream ${stream} after ${sequence} was missed`));
}
