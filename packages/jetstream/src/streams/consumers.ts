import type { ConsumerConfig, JetStreamManager } from "@nats-io/jetstream";
import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import { isNotFound } from "./missing.ts";

/** What one durable consumer has of its own. */
type Durable = Pick<ConsumerConfig, "max_ack_pending"> &
  Partial<Pick<ConsumerConfig, "filter_subject" | "headers_only">> & {
    readonly durable_name: string;
    readonly ack_wait: number;
  };

/**
 * Makes a durable consumer that delivers without a limit. One that is there is given another ack-wait only by its taker:
 * anybody else would take live work from those who extend it by the one they know.
 */
export async function ensureConsumer(
  manager: JetStreamManager,
  stream: string,
  { durable_name, ack_wait, ...rest }: Durable,
  { isTaker }: { readonly isTaker: boolean },
): Promise<void> {
  try {
    const { config } = await manager.consumers.info(stream, durable_name);
    if (isTaker && config.ack_wait !== ack_wait) {
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
      ...rest,
    });
  }
}
