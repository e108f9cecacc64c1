import type { ConsumerInfo, JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { DescMessage } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { NotificationSchema } from "@reeve/contracts/notification";
import { DispatchSchema } from "@reeve/contracts/run";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import { poolOfConsumer } from "../queue/host-consumer.ts";
import { isNotFound } from "../streams/errors.ts";
import { StreamMessages } from "../streams/stream-messages.ts";

/** The maximum number of consumers that are read of one queue. Each toolhost has one. */
const maxConsumers = 2_048;
/** How many consumers of one queue are asked for their oldest message. */
const maxAges = 64;

/** What a queue has. */
export interface QueueState {
  /** The pool of the calls, or the receiver of the notifications. Empty for runs. */
  readonly name: string;
  /** Messages that wait for a taker. */
  readonly waiting: number;
  /** Messages that takers have and did not settle. */
  readonly taken: number;
  /** Messages among the taken ones that were delivered more than once. */
  readonly redelivered: number;
  /** When the oldest of the messages was stored that wait and were never taken, in milliseconds. Undefined: none waits. */
  readonly oldestMs: number | undefined;
}

type Observed = { readonly connection: NatsConnection; readonly manager: JetStreamManager };

/** Returns the state of the queue of runs: of all its lanes together. */
export async function runQueueState(store: Observed): Promise<readonly QueueState[]> {
  return await statesOf(store, DispatchSchema, () => "");
}

/** Returns the state of the queue of each pool of toolhosts, with the calls that were forwarded to one of its hosts. */
export async function toolCallQueueStates(store: Observed): Promise<readonly QueueState[]> {
  return await statesOf(store, ToolCallRequestSchema, poolOfConsumer);
}

/** Returns the state of the queue of each receiver of notifications. */
export async function notificationQueueStates(store: Observed): Promise<readonly QueueState[]> {
  return await statesOf(store, NotificationSchema, (receiver) => receiver);
}

/** Returns the states of the queues of a stream, by name: several consumers may take from one queue. */
async function statesOf(
  { connection, manager }: Observed,
  schema: DescMessage,
  queueOf: (consumer: string) => string,
): Promise<readonly QueueState[]> {
  const stream = channelOf(schema).stream?.name ?? "";
  const consumers = await consumersOf(manager, stream);
  const waiting = consumers.filter(({ num_pending: pending }) => pending > 0);
  const messages = new StreamMessages(connection, { name: stream, isReplicated: false });
  const oldest = new Map<string, number>();
  await Promise.all(
    waiting.slice(0, maxAges).map(async (consumer) => {
      const ms = await oldestWaitingMs(messages, consumer);
      if (ms !== undefined) oldest.set(consumer.name, ms);
    }),
  );
  const queues = Map.groupBy(consumers, ({ name }) => queueOf(name));
  return [...queues]
    .map(([name, ofQueue]) => stateOf(name, ofQueue, oldest))
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

function stateOf(
  name: string,
  consumers: readonly ConsumerInfo[],
  oldest: ReadonlyMap<string, number>,
): QueueState {
  const sum = (count: (consumer: ConsumerInfo) => number) =>
    consumers.reduce((total, consumer) => total + count(consumer), 0);
  const times = consumers.flatMap((consumer) => oldest.get(consumer.name) ?? []);
  return {
    name,
    waiting: sum((consumer) => consumer.num_pending),
    taken: sum((consumer) => consumer.num_ack_pending),
    redelivered: sum((consumer) => consumer.num_redelivered),
    oldestMs: times.length === 0 ? undefined : Math.min(...times),
  };
}

/** A queue that no process has used yet has no stream, and no consumers. */
async function consumersOf(
  manager: JetStreamManager,
  stream: string,
): Promise<readonly ConsumerInfo[]> {
  const consumers: ConsumerInfo[] = [];
  const pages = manager.consumers.list(stream);
  try {
    while (consumers.length < maxConsumers) {
      const page = await pages.next();
      if (page.length === 0) break;
      consumers.push(...page);
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return consumers;
}

/** Returns when the first message was stored that the consumer has not delivered. Any server that keeps the stream may say so. */
async function oldestWaitingMs(
  messages: StreamMessages,
  { delivered, config: { filter_subject: filter } }: ConsumerInfo,
): Promise<number | undefined> {
  if (filter === undefined) return undefined;
  const query = { seq: delivered.stream_seq + 1, next_by_subj: filter };
  const message = await messages.lagging(query);
  return message && Date.parse(message.storedAt);
}
