import type { NatsConnection } from "@nats-io/transport-node";
import type { CallJournal } from "./call-journal.ts";
import { callJournalDefinition, runLogDefinition, threadLogDefinition } from "./definitions.ts";
import type { NatsLogOptions } from "./nats.ts";
import { NatsLog } from "./nats.ts";
import type { RunBatchReader, RunLog, RunPartReader, RunTailReader } from "./run-log.ts";
import type { ThreadLog } from "./thread-log.ts";

/** Opens the logs of runs in JetStream, and creates their stream if it is missing. */
export function openRunLog(
  { connection }: { readonly connection: NatsConnection },
  options: NatsLogOptions = {},
): Promise<RunLog & RunTailReader & RunPartReader & RunBatchReader> {
  return NatsLog.open(connection, runLogDefinition, options);
}

/** Opens the logs of threads in JetStream, and creates their stream if it is missing. */
export function openThreadLog(
  { connection }: { readonly connection: NatsConnection },
  options: NatsLogOptions = {},
): Promise<ThreadLog> {
  return NatsLog.open(connection, threadLogDefinition, options);
}

/** Opens the journals of tool calls in JetStream, and creates their stream if it is missing. */
export function openCallJournal(
  { connection }: { readonly connection: NatsConnection },
  options: NatsLogOptions = {},
): Promise<CallJournal> {
  return NatsLog.open(connection, callJournalDefinition, options);
}
