import type { ThreadEvent } from "@reeve/contracts/thread";
import type { FeedBatch, Feed } from "./port.ts";
import type { ThreadKey } from "../log/thread-log.ts";

/** A committed batch of a thread. */
export type ThreadFeedBatch = FeedBatch<ThreadKey, ThreadEvent>;

/** The committed batches of all threads. */
export type ThreadFeed = Feed<ThreadKey, ThreadEvent>;
