import type { NatsConnection } from "@nats-io/transport-node";
import { threadLogDefinition } from "../log/definitions.ts";
import type { FeedOptions } from "./nats.ts";
import { openFeed } from "./nats.ts";
import type { ThreadFeed } from "./thread-feed.ts";

/** What happens in all threads, read from the stream of their logs. */
export function openThreadFeed(
  { connection }: { readonly connection: NatsConnection },
  options: FeedOptions = {},
): Promise<ThreadFeed> {
  return openFeed({ connection }, threadLogDefinition, options);
}
