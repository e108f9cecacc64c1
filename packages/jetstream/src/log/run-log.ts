import type { RunEvent } from "@reeve/contracts/run";
import type { Log, TailReader } from "./port.ts";

/** Which run of which tenant. */
export interface RunKey {
  readonly tenant: string;
  readonly run: string;
}

/** The logs of runs. */
export type RunLog = Log<RunKey, RunEvent>;

/** Their ends. */
export type RunTailReader = TailReader<RunKey, RunEvent>;
