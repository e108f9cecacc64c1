import type { ConsumerConfig, JetStreamManager } from "@nats-io/jetstream";
import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import { isMissing } from "./missing.ts";

/** What one durable consumer has of its own. */
type Durable = Pick<ConsumerConfig, "max_ack_pending"> &
  Partial<Pick<ConsumerConfig, "filter_subject" | "headers_only">> & {
    readonly durable_name: string;
    readonly ack_wait: number;
  };

/** Makes a durable consumer that delivers without a limit, or gives the one that is there another ack-wait. */
export async function ensureConsumer(
  manager: JetStreamManager,
  stream: string,
  { durable_name, ack_wait, ...rest }: Durable,
): Promise<void> {
  try {
    const { config } = await manager.consumers.info(stream, durable_name);
    if (config.ack_wait !== ack_wait) {
      await manager.consumers.update(stream, durable_name, { ack_wait });
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
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
