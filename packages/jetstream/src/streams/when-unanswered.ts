import type { ConsumerMessages } from "@nats-io/jetstream";

/**
 * Calls `onUnanswered` when no server answers a pull of `messages`. In a cluster, the server of a connection learns of a new
 * consumer on another server a moment after the consumer exists, and refuses pulls until then. The client repeats such a pull
 * only after two missed heartbeats. Resolves when the messages end.
 */
export async function whenUnanswered(
  messages: ConsumerMessages,
  onUnanswered: () => void,
): Promise<void> {
  for await (const { type } of messages.status()) if (type === "no_responders") onUnanswered();
}
