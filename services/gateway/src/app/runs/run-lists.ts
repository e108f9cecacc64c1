import type { RunSchema } from "@reeve/contracts/run";
import type { TableIndex } from "@reeve/jetstream/local-index/table-index";

/** What lists of runs are read by. */
export type RunField = "agent_id" | "thread_id" | "started_by";

/**
 * Filtered lists of the indexed runs, newest first. Named here and not where they are opened, which imports what searches them.
 */
export type RunLists = TableIndex<typeof RunSchema, RunField>;
