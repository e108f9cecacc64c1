import type { ConsumerMessages, JetStreamManager } from "@nats-io/jetstream";
import { DeliverPolicy, jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { DescMessage } from "@bufbuild/protobuf";
import { IdleTimeout } from "@reeve/platform/async/idle-timeout";
import { onAbort } from "@reeve/platform/async/on-abort";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { archivedLogs } from "../log/archive/archived-logs.ts";
import type { LogDefinition } from "../log/definitions.ts";
import { runLogDefinition, threadLogDefinition } from "../log/definitions.ts";
import { batchFromHeaders } from "../log/stored-batch.ts";
import type { RunKey } from "../log/run-log.ts";
import type { ThreadKey } from "../log/thread-log.ts";
import { callStore } from "../streams/call-store.ts";
import { openJetStreamManager } from "../streams/ensure-stream.ts";
import type { OpenShard } from "../streams/shards/open-shards.ts";
import { openShards } from "../streams/shards/open-shards.ts";
import { whenUnanswered } from "../streams/when-unanswered.ts";
import type { LogCatalog, LogEnd } from "./port.ts";

/** How long the store may deliver nothing although there are more logs. */
const idleTimeoutMs = 30_000;
const maxPulledMessages = 500;

/** Opens the catalog of all runs. */
export function openRunCatalog(nats: {
  readonly connection: NatsConnection;
}): Promise<LogCatalog<RunKey>> {
  return openCatalog(nats, runLogDefinition);
}

/** Opens the catalog of all threads. */
export function openThreadCatalog(nats: {
  readonly connection: NatsConnection;
}): Promise<LogCatalog<ThreadKey>> {
  return openCatalog(nats, threadLogDefinition);
}

async function openCatalog<Key, Event, Schema extends DescMessage>(
  { connection }: { readonly connection: NatsConnection },
  definition: LogDefinition<Key, Event, Schema>,
): Promise<LogCatalog<Key>> {
  const manager = await openJetStreamManager(connection);
  const shards = await openShards(connection, definition.schema);
  const catalogs = shards.map((shard) => catalogOf({ connection, manager }, definition, shard));
  return {
    async *ends(signal) {
      for (const catalog of catalogs) yield* catalog.ends(signal);
      if (definition.isArchived === true)
        yield* archivedEnds(connection, definition, shards, signal);
    },
  };
}

/** Yields the ends of the logs that were archived. Those that still have messages were yielded before, too. */
async function* archivedEnds<Key, Event, Schema extends DescMessage>(
  connection: NatsConnection,
  { keyOf }: LogDefinition<Key, Event, Schema>,
  shards: readonly OpenShard[],
  signal: AbortSignal,
): AsyncIterable<LogEnd<Key>> {
  for await (const { log, archive } of archivedLogs(connection, signal)) {
    const tokens = shards.map(({ channel }) => channel.tokensOf(log)).find((each) => each);
    const key = tokens && keyOf(tokens);
    if (key === undefined || archive === undefined) continue;
    yield { key, sequence: archive.lastSequence, kinds: archive.kinds };
  }
}

/** Reads the headers of the last message of each subject, which the stream indexes. */
function catalogOf<Key, Event, Schema extends DescMessage>(
  {
    connection,
    manager,
  }: { readonly connection: NatsConnection; readonly manager: JetStreamManager },
  definition: LogDefinition<Key, Event, Schema>,
  { channel, place: { name: stream } }: OpenShard,
): LogCatalog<Key> {
  async function* read(signal: AbortSignal): AsyncIterable<LogEnd<Key>> {
    const { state } = await manager.streams.info(stream);
    if (state.messages === 0) return;
    const consumer = await jetstream(connection).consumers.get(stream, {
      deliver_policy: DeliverPolicy.LastPerSubject,
      headers_only: true,
    });
    const messages = await consumer.consume({ max_messages: maxPulledMessages });
    try {
      for await (const message of untilIdle(messages, signal)) {
        const tokens = channel.tokensOf(message.subject);
        const key = tokens && definition.keyOf(tokens);
        const { headers } = message;
        if (key !== undefined && headers !== undefined) {
          const { last, kinds } = batchFromHeaders(message.seq, headers, message.data);
          yield { key, sequence: last, kinds };
        }
        if (message.seq >= state.last_seq || message.info.pending === 0) return;
      }
    } finally {
      messages.stop();
      void consumer.delete().catch(() => undefined);
    }
  }

  return {
    async *ends(signal) {
      const ends = read(signal)[Symbol.asyncIterator]();
      try {
        for (;;) {
          const next = await callStore(() => ends.next());
          if (next.done === true) return;
          yield next.value;
        }
      } finally {
        await ends.return?.();
      }
    },
  };
}

/** Yields the messages. Throws a Failure of kind `unavailable` when none arrives for long, or no server answers. */
async function* untilIdle(messages: ConsumerMessages, signal: AbortSignal) {
  const options = { timeoutMs: idleTimeoutMs, reason: () => storeUnavailable() };
  const lost = new AbortController();
  void whenUnanswered(messages, () => lost.abort(storeUnavailable()));
  using idle = new IdleTimeout(options, AbortSignal.any([signal, lost.signal]));
  using _ = onAbort(idle.signal, () => messages.stop());
  for await (const message of messages) {
    idle.pause();
    yield message;
    idle.restart();
  }
  idle.signal.throwIfAborted();
  throw storeUnavailable();
}
