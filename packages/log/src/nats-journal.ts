import type { NatsConnection } from "@nats-io/transport-node";
import type { CallJournal } from "./call-journal.ts";
import { callJournalDefinition } from "./definitions.ts";
import { NatsLog } from "./nats-log.ts";

/** The journals of tool calls in JetStream. */
export function openCallJournal({
  connection,
}: {
  readonly connection: NatsConnection;
}): Promise<CallJournal> {
  return NatsLog.open(connection, callJournalDefinition);
}
