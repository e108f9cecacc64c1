import { fromBinary } from "@bufbuild/protobuf";
import type { NatsConnection } from "@nats-io/transport-node";
import { nanos } from "@nats-io/transport-node";
import type { LanesTemplate } from "@reeve/contracts/channel";
import { channelOf } from "@reeve/contracts/channel";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema } from "@reeve/contracts/run";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { bootClock } from "@reeve/platform/async/boot-clock";
import { every } from "@reeve/platform/async/every";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { sleep } from "@reeve/platform/async/sleep";
import { ensureConsumer, untilConsumerIsReady } from "../../streams/ensure-consumer.ts";
import { ensureStream, openJetStreamManager } from "../../streams/ensure-stream.ts";
import type { StreamPlace } from "../../streams/stream-messages.ts";
import { StreamPublisher } from "../../streams/stream-publisher.ts";
import { DeliveryLease } from "../delivery-lease.ts";
import { natsDelivery } from "../nats-delivery.ts";
import type { QueueTimeouts } from "../nats.ts";
import { checkMs, maxUnsettled, retryMs } from "../nats.ts";
import type { Delivery, WorkQueue } from "../port.ts";
import { countDelivery } from "../queue-metrics.ts";
import { QueueWriter } from "../queue-writer.ts";
import { LaneChoice } from "./lane-choice.ts";
import { laneConsumer, natsBacklogs } from "./nats-backlogs.ts";
import type { LaneSource } from "./lane-taker.ts";
import { LaneTaker } from "./lane-taker.ts";
import type { LanePull } from "./lane-turns.ts";
import type { PullEnd } from "./pull.ts";
import { pull, pullGraceMs, pullMs } from "./pull.ts";
import type { PulledMessage } from "./pulled-message.ts";

/** The subjects of a lane, and the durable consumer through which its messages are taken. */
interface Lane {
  readonly subject: string;
  readonly durable: string;
}

/** Where versions without lanes publish and take all runs. */
const sharedSubject = channelOf(DispatchSchema).subject({});
const sharedConsumer = "runtime";

/** Returns the lanes from which runs are taken: one for each lane of the contracts, and last that of versions without lanes. */
export function dispatchLanes(): readonly Lane[] {
  const lanes = lanesTemplate();
  return [
    ...Array.from({ length: lanes.count }, (_, lane) => ({
      subject: lanes.wildcard(lane),
      durable: laneConsumer(lane),
    })),
    { subject: sharedSubject, durable: sharedConsumer },
  ];
}

function lanesTemplate(): LanesTemplate {
  const { lanes } = channelOf(DispatchSchema);
  if (lanes === undefined) throw new Error("the contracts declare no lanes for runs");
  return lanes;
}

/** Opens the queue of runs that need a worker. Tenants share its takers fairly: each of them has lanes of its own or shares them. */
export async function openDispatchQueue(
  { connection }: { readonly connection: NatsConnection },
  timeouts: QueueTimeouts,
): Promise<WorkQueue<Dispatch>> {
  const manager = await openJetStreamManager(connection);
  const stream = await ensureStream(connection, manager, channelOf(DispatchSchema));
  const restore = ({ durable, subject }: Lane) =>
    ensureConsumer(
      manager,
      stream.name,
      {
        durable_name: durable,
        filter_subject: subject,
        ack_wait: nanos(timeouts.ackWaitMs),
        max_ack_pending: maxUnsettled,
      },
      { isConsumer: timeouts.isConsumer ?? false },
    );
  const lanes = dispatchLanes();
  const ready = (lane: Lane) => untilConsumerIsReady(connection, lane.durable, () => restore(lane));
  // A shared consumer without a filter would keep those of the lanes from being created.
  await Promise.all(lanes.slice(-1).map(ready));
  await Promise.all(lanes.slice(0, -1).map(ready));
  const choice = new LaneChoice(natsBacklogs(manager, stream.name, lanesTemplate()));
  return new DispatchQueue(connection, { ...timeouts, stream, lanes, restore, choice });
}

interface OpenDispatchQueue extends QueueTimeouts {
  readonly stream: StreamPlace;
  readonly lanes: readonly Lane[];
  /** Creates the consumer of a lane again if it was removed, and restores its settings. */
  readonly restore: (lane: Lane) => Promise<void>;
  readonly choice: LaneChoice;
}

class DispatchQueue implements WorkQueue<Dispatch> {
  readonly #connection: NatsConnection;
  readonly #queue: OpenDispatchQueue;
  readonly #publisher: StreamPublisher;

  constructor(connection: NatsConnection, queue: OpenDispatchQueue) {
    this.#connection = connection;
    this.#queue = queue;
    this.#publisher = new StreamPublisher(connection);
  }

  async publish(
    message: Dispatch,
    options: { readonly dedupeId: string },
    signal: AbortSignal,
  ): Promise<number> {
    const { tenant } = message;
    const lane = await this.#queue.choice.of(tenant, signal);
    const writer = this.#writer(lanesTemplate().subject(lane, tenant));
    return await writer.publish(message, options, signal);
  }

  prepare({ tenant }: Dispatch): void {
    // The answers are kept for a moment. The publication says what is wrong if there are none.
    void this.#queue.choice.of(tenant, neverAborts).catch(() => undefined);
  }

  holds(sequence: number, signal: AbortSignal): Promise<boolean> {
    return this.#writer(sharedSubject).holds(sequence, signal);
  }

  async *take(permits: number | Semaphore, signal: AbortSignal): AsyncIterable<Delivery<Dispatch>> {
    const semaphore = typeof permits === "number" ? new Semaphore(permits) : permits;
    const { lanes, restore } = this.#queue;
    using _ = every(checkMs, () => void Promise.allSettled(lanes.map(restore)));
    const taker = new LaneTaker(this.#source(lanes), semaphore, signal);
    try {
      for (;;) yield await taker.next();
    } finally {
      taker.end();
    }
  }

  #source(lanes: readonly Lane[]): LaneSource<Dispatch> {
    return {
      count: lanes.length,
      pull: (...begun) => this.#pull(...begun),
      recover: async (lane, signal) => {
        try {
          await sleep(retryMs, signal);
          await this.#queue.restore(this.#lane(lane));
        } catch {
          // While the store is unavailable this fails; the next failed pull tries again.
        }
      },
      deliver: (...delivered) => this.#deliver(...delivered),
    };
  }

  #pull(
    { lane, batch, waits }: LanePull,
    onMessage: (message: PulledMessage, pulledAt: number) => void,
    onEnd: (end: PullEnd) => void,
  ): void {
    const { durable: consumer } = this.#lane(lane);
    const { stream } = this.#queue;
    const options = { stream: stream.name, consumer, batch, waits, onMessage, onEnd };
    pull(this.#connection, options);
  }

  #deliver(
    index: number,
    message: PulledMessage,
    pulledAt: number,
    permit: Disposable,
  ): Delivery<Dispatch> | undefined {
    const { subject, durable } = this.#lane(index);
    const { stream, ackWaitMs, holder } = this.#queue;
    countDelivery(subject, message.info.deliveryCount);
    const content = contentOf(message);
    if (content === undefined) {
      permit[Symbol.dispose]();
      return undefined;
    }
    const now = bootClock.now();
    // A process that stood still finds messages that may have been delivered at any time since its pull.
    const sinceMs = now - pulledAt > pullMs + pullGraceMs ? pulledAt : now;
    const terms = { ackSubject: message.ackSubject, ackWaitMs, sinceMs };
    const lease = new DeliveryLease(this.#connection, terms);
    const place = { stream: stream.name, consumer: durable, sequence: message.info.streamSequence };
    const held = holder?.hold(place, lease);
    return natsDelivery(message, content, {
      lease,
      [Symbol.dispose]() {
        held?.[Symbol.dispose]();
        permit[Symbol.dispose]();
      },
    });
  }

  #lane(index: number): Lane {
    const lane = this.#queue.lanes[index];
    if (lane === undefined) throw new RangeError(`the dispatch queue has no lane ${index}`);
    return lane;
  }

  #writer(subject: string): QueueWriter<typeof DispatchSchema> {
    const { stream } = this.#queue;
    // A dispatch is small, and leaves the store when its run was taken up: decisions and cancellations need it.
    const usesReserve = true;
    const place = { schema: DispatchSchema, stream, subject, name: sharedSubject, usesReserve };
    return new QueueWriter(this.#connection, place, this.#publisher);
  }
}

function contentOf(message: PulledMessage): Dispatch | undefined {
  try {
    return fromBinary(DispatchSchema, message.data, storedReadOptions);
  } catch {
    // It would be redelivered forever, and no taker could read it.
    message.term();
    return undefined;
  }
}
