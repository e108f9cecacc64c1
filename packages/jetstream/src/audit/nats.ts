import type { MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import { toBinary } from "@bufbuild/protobuf";
import type { AuditEvent } from "@reeve/contracts/audit";
import { AuditEventSchema } from "@reeve/contracts/audit";
import { channelOf } from "@reeve/contracts/channel";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { ensureStream, openJetStreamManager } from "../streams/ensure-stream.ts";
import { storeFailure } from "../streams/errors.ts";
import { StreamMessages } from "../streams/stream-messages.ts";
import { StreamPublisher } from "../streams/stream-publisher.ts";
import { BackwardReader } from "./backward-reader.ts";
import type { AuditTrail } from "./port.ts";
import { noTenant } from "./port.ts";

/** How long a read is retried while the store is unavailable. */
const maxRetryMs = 5_000;

const channel = channelOf(AuditEventSchema);

/**
 * Opens the audit trail in JetStream, and creates its stream if it is missing. Waits for the store, and for another process that
 * may create the stream, as `ensureStream` does.
 */
export async function openAuditTrail({
  connection,
}: {
  readonly connection: NatsConnection;
}): Promise<AuditTrail> {
  const manager = await openJetStreamManager(connection);
  const messages = new StreamMessages(connection, await ensureStream(connection, manager, channel));
  const publisher = new StreamPublisher(connection);
  return {
    async append(event, { usesReserve }) {
      const tenant = event.tenant || noTenant;
      const message = [channel.subject({ tenant }), toBinary(AuditEventSchema, event)] as const;
      const outcome = await publisher.publish(...message, headersOf(event), { usesReserve });
      if (outcome.kind === "unanswered") throw storeUnavailable();
      if (outcome.kind === "refused") throw storeFailure(outcome.error);
    },
    async read(tenant, start, signal) {
      const reader = new BackwardReader(messages, { tenant, subject: channel.subject({ tenant }) });
      const read = () => reader.read(start, signal);
      return await retryUnavailable(read, { maxElapsedMs: maxRetryMs }, signal);
    },
  };
}

/** The server discards a second message with the same id, so that an append can be repeated. */
function headersOf({ eventId }: AuditEvent): MsgHdrs {
  const result = headers();
  result.set("Nats-Msg-Id", eventId);
  return result;
}
