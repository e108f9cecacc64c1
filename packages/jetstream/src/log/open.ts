import type { NatsConnection } from "@nats-io/transport-node";
import type { CallJournal, CallKey } from "./call-journal.ts";
import { callJournalDefinition, runLogDefinition, threadLogDefinition } from "./definitions.ts";
import type { NatsLogOptions } from "./nats.ts";
import { NatsLog } from "./nats.ts";
import type { LogRemover, SettledLog } from "./port.ts";
import type { RunBatchReader, RunKey, RunLog, RunPartReader, RunTailReader } from "./run-log.ts";
import type { ThreadLog } from "./thread-log.ts";

/** Opens the logs of runs in JetStream, and creates their stream if it is missing. */
export function openRunLog(
  { connection }: { readonly connection: NatsConnection },
  options: NatsLogOptions = {},
): Promise<
  RunLog & RunTailReader & RunPartReader & RunBatchReader & LogRemover<RunKey> & SettledLog
> {
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
): Promise<CallJournal & LogRemover<CallKey>> {
  return NatsLog.open(connection, callJournalDefinition, options);
}
