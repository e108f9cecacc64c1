import type { Approval } from "@reeve/contracts/approval";
import type { Dispatch } from "@reeve/contracts/run";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { Table } from "@reeve/jetstream/table/port";
import type { ApprovalLists } from "./approval-lists.ts";

/** Everything outside that approvals needs. */
export interface ApprovalPorts {
  readonly log: RunLog;
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish">;
  /** The inbox: follows the logs of the runs with a short delay. */
  readonly inbox: Table<Approval>;
  readonly lists: ApprovalLists;
  readonly clock: Clock;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects when the signal aborts. */
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}
