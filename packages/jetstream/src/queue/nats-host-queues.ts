import type { JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import { abortable } from "@reeve/platform/async/abortable";
import type { ForwardedToolCall } from "@reeve/contracts/toolhost";
import { ForwardedToolCallSchema } from "@reeve/contracts/toolhost";
import { ensureStream, openJetStreamManager } from "../streams/ensure-stream.ts";
import { isNotFound } from "../streams/errors.ts";
import type { StreamPlace } from "../streams/stream-messages.ts";
import { StreamPublisher } from "../streams/stream-publisher.ts";
import { hostConsumerName, hostOfConsumer } from "./host-consumer.ts";
import type { HostBacklog, HostQueues } from "./host-queues.ts";
import type { QueueTimeouts } from "./nats.ts";
import { openHostQueue, tenantOfForwarded } from "./nats.ts";
import type { WorkQueue } from "./port.ts";
import { QueueWriter } from "./queue-writer.ts";

/** Opens the queues of the hosts of one pool, with `timeouts` for each. */
export async function openHostQueues(
  { connection }: { readonly connection: NatsConnection },
  { pool, ...timeouts }: QueueTimeouts & { readonly pool: string },
): Promise<HostQueues> {
  const manager = await openJetStreamManager(connection);
  const stream = await ensureStream(connection, manager, channelOf(ForwardedToolCallSchema));
  return new NatsHostQueues(connection, manager, { stream, pool, timeouts });
}

interface HostQueueOptions {
  readonly stream: StreamPlace;
  readonly pool: string;
  readonly timeouts: QueueTimeouts;
}

class NatsHostQueues implements HostQueues {
  readonly #connection: NatsConnection;
  readonly #manager: JetStreamManager;
  readonly #publisher: StreamPublisher;
  readonly #options: HostQueueOptions;
  readonly #channel = channelOf(ForwardedToolCallSchema);

  constructor(connection: NatsConnection, manager: JetStreamManager, options: HostQueueOptions) {
    this.#connection = connection;
    this.#manager = manager;
    this.#publisher = new StreamPublisher(connection);
    this.#options = options;
  }

  to(host: string): Pick<WorkQueue<ForwardedToolCall>, "publish" | "holds"> {
    const { stream, pool } = this.#options;
    const subject = this.#channel.subject({ pool, host });
    const format = { schema: ForwardedToolCallSchema, tenantOf: tenantOfForwarded };
    const queue = { ...format, stream, subject };
    return new QueueWriter(this.#connection, queue, this.#publisher);
  }

  async hosts(signal: AbortSignal): Promise<readonly string[]> {
    const { stream, pool } = this.#options;
    const hosts = new Set<string>();
    for await (const { name } of this.#manager.consumers.list(stream.name)) {
      signal.throwIfAborted();
      const host = hostOfConsumer(pool, name);
      if (host !== undefined) hosts.add(host);
    }
    // Calls that were sent to a host whose consumer was removed are stored all the same.
    const filter = this.#channel.subject({ pool, host: hostPlaceholder });
    const { state } = await this.#manager.streams.info(stream.name, {
      subjects_filter: filter.replace(hostPlaceholder, "*"),
    });
    for (const subject of Object.keys(state.subjects ?? {})) {
      const { host } = this.#channel.tokensOf(subject) ?? {};
      if (host !== undefined) hosts.add(host);
    }
    return [...hosts];
  }

  async open(host: string, signal: AbortSignal): Promise<WorkQueue<ForwardedToolCall>> {
    signal.throwIfAborted();
    const { pool, timeouts } = this.#options;
    const opening = openHostQueue({ connection: this.#connection }, { pool, host, ...timeouts });
    return await abortable(opening, signal);
  }

  async backlog(host: string, signal: AbortSignal): Promise<HostBacklog> {
    signal.throwIfAborted();
    const { stream, pool } = this.#options;
    try {
      const asking = this.#manager.consumers.info(stream.name, hostConsumerName(pool, host));
      const info = await abortable(asking, signal);
      return { waiting: info.num_pending, delivered: info.num_ack_pending };
    } catch (error) {
      if (isNotFound(error)) return { waiting: 0, delivered: 0 };
      throw error;
    }
  }

  async remove(host: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { stream, pool } = this.#options;
    try {
      await this.#manager.consumers.delete(stream.name, hostConsumerName(pool, host));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** A valid token, in whose place the filter has a wildcard. */
const hostPlaceholder = "_any_";
