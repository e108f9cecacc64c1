import type { RunEvent } from "@reeve/contracts/run";
import type { FeedBatch, Feed } from "./port.ts";
import type { RunKey } from "../log/run-log.ts";

/** The name of a kind of event: the case of its oneof. */
export type RunEventKind = NonNullable<RunEvent["event"]["case"]>;

/** A committed batch of a run. */
export type RunFeedBatch = FeedBatch<RunKey, RunEvent>;

/** What happens in all runs. */
export type RunFeed = Feed<RunKey, RunEvent, RunEventKind>;
