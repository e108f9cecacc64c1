import type { DescMessage } from "@bufbuild/protobuf";
import type { NatsConnection } from "@nats-io/transport-node";
import { openShards } from "../streams/shards/open-shards.ts";
import type { CallJournal, CallKey } from "./call-journal.ts";
import type { LogDefinition } from "./definitions.ts";
import { callJournalDefinition, runLogDefinition, threadLogDefinition } from "./definitions.ts";
import type { NatsLogOptions } from "./nats.ts";
import { NatsLog } from "./nats.ts";
import type { LogRemover, SettledLog } from "./port.ts";
import type { RunBatchReader, RunKey, RunLog, RunPartReader, RunTailReader } from "./run-log.ts";
import type { LogStore } from "./shards/sharded-log.ts";
import { ShardedLog } from "./shards/sharded-log.ts";
import type { ThreadLog } from "./thread-log.ts";

/** Opens the logs of runs in JetStream, in all shards of the store, and creates their stream if it is missing. */
export function openRunLog(
  { connection }: { readonly connection: NatsConnection },
  options: NatsLogOptions = {},
): Promise<
  RunLog & RunTailReader & RunPartReader & RunBatchReader & LogRemover<RunKey> & SettledLog<RunKey>
> {
  return openLog(connection, runLogDefinition, options);
}

/** Opens the logs of threads in JetStream, and creates their stream if it is missing. */
export function openThreadLog(
  { connection }: { readonly connection: NatsConnection },
  options: NatsLogOptions = {},
): Promise<ThreadLog> {
  return openLog(connection, threadLogDefinition, options);
}

/** Opens the journals of tool calls in JetStream, and creates their stream if it is missing. */
export function openCallJournal(
  { connection }: { readonly connection: NatsConnection },
  options: NatsLogOptions = {},
): Promise<CallJournal & LogRemover<CallKey>> {
  return openLog(connection, callJournalDefinition, options);
}

async function openLog<Key, Event, Schema extends DescMessage>(
  connection: NatsConnection,
  definition: LogDefinition<Key, Event, Schema>,
  options: NatsLogOptions,
): Promise<LogStore<Key, Event>> {
  const shards = await openShards(connection, definition.schema);
  const logs = shards.map((shard) => new NatsLog(connection, definition, shard, options));
  const [log] = logs;
  return log !== undefined && logs.length === 1 ? log : new ShardedLog(definition, logs);
}
