import type { NatsConnection } from "@nats-io/transport-node";
import { runLogDefinition } from "../log/definitions.ts";
import type { FeedOptions } from "./nats.ts";
import { openFeed } from "./nats.ts";
import type { RunFeed } from "./run-feed.ts";

/** What happens in all runs, read from the stream of their logs. */
export function openRunFeed(
  { connection }: { readonly connection: NatsConnection },
  options: FeedOptions = {},
): Promise<RunFeed> {
  return openFeed({ connection }, runLogDefinition, options);
}
