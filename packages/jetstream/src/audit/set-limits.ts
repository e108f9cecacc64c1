import type { NatsConnection } from "@nats-io/transport-node";
import { nanos } from "@nats-io/transport-node";
import { AuditEventSchema } from "@reeve/contracts/audit";
import { channelOf } from "@reeve/contracts/channel";
import { callStore } from "../streams/call-store.ts";
import { ensureStream, openJetStreamManager } from "../streams/ensure-stream.ts";

/** How much of the audit trail is kept. */
export interface AuditLimits {
  /** Age at which events are removed. At least two minutes. */
  readonly maxAgeMs: number;
  /** Maximum number of events of each tenant, and of those without a tenant; the oldest ones are removed. */
  readonly maxEvents: number;
}

/** Sets how much of the audit trail is kept, and creates its stream if it is missing. Smaller limits remove events at once. */
export async function setAuditLimits(
  { connection }: { readonly connection: NatsConnection },
  { maxAgeMs, maxEvents }: AuditLimits,
): Promise<void> {
  const manager = await openJetStreamManager(connection);
  const { name } = await ensureStream(connection, manager, channelOf(AuditEventSchema));
  await callStore(async () => {
    const { config } = await manager.streams.info(name);
    const limits = { max_age: nanos(maxAgeMs), max_msgs_per_subject: maxEvents };
    const isSet =
      config.max_age === limits.max_age &&
      config.max_msgs_per_subject === limits.max_msgs_per_subject;
    if (!isSet) await manager.streams.update(name, limits);
  });
}
