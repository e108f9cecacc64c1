import type { RunEvent } from "@reeve/contracts/run";
import type { FeedBatch, Feed } from "./port.ts";
import type { RunKey } from "../log/run-log.ts";

/** A committed batch of a run. */
export type RunFeedBatch = FeedBatch<RunKey, RunEvent>;

/** The committed batches of all runs. */
export type RunFeed = Feed<RunKey, RunEvent>;
