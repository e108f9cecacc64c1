import type { ConsumerConfig, JetStreamManager } from "@nats-io/jetstream";
import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { retry } from "@reeve/platform/async/retry/retry";
import { storeStep } from "@reeve/platform/nats/store-steps";
import { isNotFound } from "./errors.ts";
import { isUnanswered, untilReady } from "./until-ready.ts";

/** The settings in which the durable consumers of this product differ. */
type DurableConfig = Partial<
  Pick<ConsumerConfig, "filter_subject" | "headers_only" | "deliver_policy">
> & {
  readonly durable_name: string;
  readonly ack_wait: number;
  readonly max_ack_pending: number;
};

/**
 * Creates a durable consumer that redelivers without limit, if it does not exist. For callers that consume from an existing one,
 * restores what others changed and what would lose messages or hold them back. Raises the ack-wait and the number of messages
 * that are not settled, and never lowers them: another consumer extends its messages by the ack-wait that it knows, and would
 * lose them.
 */
export async function ensureConsumer(
  manager: JetStreamManager,
  stream: string,
  config: DurableConfig,
  { isConsumer }: { readonly isConsumer: boolean },
): Promise<void> {
  const { durable_name: name } = config;
  try {
    const { config: existing } = await manager.consumers.info(stream, name);
    const changes = isConsumer ? restored(existing, config) : {};
    if (Object.keys(changes).length > 0) await manager.consumers.update(stream, name, changes);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await manager.consumers.add(stream, {
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      max_deliver: -1,
      ...config,
    });
  }
}

/**
 * Runs `ensure`, which ensures a consumer, when a service starts. Waits for the store as `ensureStream` does: a cluster may
 * lose its leader after the stream was ensured.
 */
export function untilConsumerIsReady<Result>(
  connection: NatsConnection,
  durable: string,
  ensure: () => Promise<Result>,
): Promise<Result> {
  const options = untilReady(connection, isUnanswered);
  return storeStep(connection, `consumer ${durable}`, () => retry(ensure, options, neverAborts));
}

/** Returns the settings in which a consumer lacks what its takers need. */
function restored(existing: ConsumerConfig, config: DurableConfig): Partial<ConsumerConfig> {
  const { ack_wait, max_ack_pending, filter_subject, headers_only = false } = config;
  const pending = existing.max_ack_pending ?? 0;
  // Absent and empty mean that there is no limit.
  const limits = { max_batch: 0, max_bytes: 0, max_expires: 0, inactive_threshold: 0 } as const;
  const limited = Object.entries(limits).filter(
    ([limit]) => (existing[limit as keyof typeof limits] ?? 0) > 0,
  );
  return {
    ...((existing.ack_wait ?? 0) < ack_wait && { ack_wait }),
    ...(pending >= 0 && pending < max_ack_pending && { max_ack_pending }),
    ...((existing.max_deliver ?? -1) > 0 && { max_deliver: -1 }),
    ...((existing.backoff?.length ?? 0) > 0 && { backoff: [] }),
    // Never the other way round: a reader of whole batches must not get headers, and one of headers can do with whole batches.
    ...(existing.headers_only === true && !headers_only && { headers_only }),
    ...(existing.filter_subject !== filter_subject && { filter_subject: filter_subject ?? "" }),
    ...Object.fromEntries(limited),
  };
}
