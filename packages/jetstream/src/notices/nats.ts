import { headers } from "@nats-io/transport-node";
import type { NatsConnection } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import { ApprovalNoticeSchema } from "@reeve/contracts/notification";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { ensureStream, openJetStreamManager } from "../streams/ensure-stream.ts";
import { storeFailure } from "../streams/errors.ts";
import { StreamPublisher } from "../streams/stream-publisher.ts";

/** A notice about an approval for programs on the bus. */
export interface Notice {
  /** Of several notices with the same id within an hour, the stream stores one. */
  readonly id: string;
  readonly receiver: string;
  readonly tenant: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** Publishes notices. */
export interface Notices {
  /** Resolves when the stream has the notice. Throws a Failure of kind `unavailable` or `exhausted` otherwise. */
  publish(notice: Notice): Promise<void>;
}

const channel = channelOf(ApprovalNoticeSchema);

/** Opens the stream of notices, and creates it if it is missing, as `ensureStream` does. They use no reserve of a full store. */
export async function openNotices({
  connection,
}: {
  readonly connection: NatsConnection;
}): Promise<Notices> {
  await ensureStream(connection, await openJetStreamManager(connection), channel);
  const publisher = new StreamPublisher(connection);
  return {
    async publish({ id, receiver, tenant, headers: given, body }) {
      const all = headers();
      all.set("Nats-Msg-Id", id);
      for (const [name, value] of Object.entries(given)) all.set(name, value);
      const subject = channel.subject({ receiver, tenant });
      const data = new TextEncoder().encode(body);
      const outcome = await publisher.publish(subject, data, all, { usesReserve: false });
      if (outcome.kind === "unanswered") throw storeUnavailable();
      if (outcome.kind === "refused") throw storeFailure(outcome.error);
    },
  };
}
