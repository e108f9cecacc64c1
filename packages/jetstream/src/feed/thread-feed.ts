import type { ThreadEvent } from "@reeve/contracts/thread";
import type { FeedBatch, Feed } from "./port.ts";
import type { ThreadKey } from "../log/thread-log.ts";

/** The name of a kind of event: the case of its oneof. */
export type ThreadEventKind = NonNullable<ThreadEvent["event"]["case"]>;

/** A committed batch of a thread. */
export type ThreadFeedBatch = FeedBatch<ThreadKey, ThreadEvent>;

/** What happens in all threads. */
export type ThreadFeed = Feed<ThreadKey, ThreadEvent, ThreadEventKind>;
