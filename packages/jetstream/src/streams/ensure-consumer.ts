import type { ConsumerConfig, JetStreamManager } from "@nats-io/jetstream";
import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { retry } from "@reeve/platform/async/retry/retry";
import { storeStep } from "@reeve/platform/nats/store-steps";
import { isNotFound } from "./errors.ts";
import { isUnanswered, untilReady } from "./until-ready.ts";

/** The settings in which the durable consumers of this product differ. */
type DurableConfig = Pick<ConsumerConfig, "max_ack_pending"> &
  Partial<Pick<ConsumerConfig, "filter_subject" | "headers_only">> & {
    readonly durable_name: string;
    readonly ack_wait: number;
  };

/**
 * Creates a durable consumer that redelivers without limit, if it does not exist. Raises the ack-wait of an existing one for
 * callers that consume from it, and never lowers it: another consumer extends its messages by the ack-wait that it knows, and
 * would lose them.
 */
export async function ensureConsumer(
  manager: JetStreamManager,
  stream: string,
  { durable_name, ack_wait, ...config }: DurableConfig,
  { isConsumer }: { readonly isConsumer: boolean },
): Promise<void> {
  try {
    const { config: existing } = await manager.consumers.info(stream, durable_name);
    if (isConsumer && (existing.ack_wait ?? 0) < ack_wait) {
      await manager.consumers.update(stream, durable_name, { ack_wait });
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await manager.consumers.add(stream, {
      durable_name,
      ack_wait,
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
