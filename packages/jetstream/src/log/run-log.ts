import type { RunEvent } from "@reeve/contracts/run";
import type { BatchReader, Log, PartReader, TailReader } from "./port.ts";

/** Identifies a run of a tenant. */
export interface RunKey {
  readonly tenant: string;
  readonly run: string;
}

/** The logs of runs. */
export type RunLog = Log<RunKey, RunEvent>;

/** Reads the ends of the logs of runs. */
export type RunTailReader = TailReader<RunKey, RunEvent>;

/** Reads the logs of runs in parts. */
export type RunPartReader = PartReader<RunKey, RunEvent>;

/** Reads the logs of runs as they are stored. */
export type RunBatchReader = BatchReader<RunKey>;
