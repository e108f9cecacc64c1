import type { NatsConnection } from "@nats-io/transport-node";
import type { CallJournal } from "./call-journal.ts";
import { callJournalDefinition } from "./definitions.ts";
import type { NatsLogOptions } from "./nats.ts";
import { NatsLog } from "./nats.ts";

/** The journals of tool calls in JetStream. */
export function openCallJournal(
  { connection }: { readonly connection: NatsConnection },
  options: NatsLogOptions = {},
): Promise<CallJournal> {
  return NatsLog.open(connection, callJournalDefinition, options);
}
