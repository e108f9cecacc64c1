import type { ThreadEvent } from "@reeve/contracts/thread";
import type { Log, PartReader, TailReader } from "./port.ts";

/** Identifies a thread of a tenant. */
export interface ThreadKey {
  readonly tenant: string;
  readonly thread: string;
}

/** The logs of threads. */
export type ThreadLog = Log<ThreadKey, ThreadEvent> &
  TailReader<ThreadKey, ThreadEvent> &
  PartReader<ThreadKey, ThreadEvent>;
