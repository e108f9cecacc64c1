import type { Role } from "@reeve/contracts/access/role";
import type { TaskPushes } from "@reeve/contracts/a2a";
import { TaskPushesSchema } from "@reeve/contracts/a2a";
import { bucketOf } from "@reeve/contracts/channel";
import type { Run } from "@reeve/contracts/run";
import type { RecordAct } from "@reeve/jetstream/audit/system-acts";
import type { LiveView } from "@reeve/jetstream/table/live-view";
import type { Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";
import type { PushTarget } from "./push-target.ts";

/** What push notifications work with. */
export interface PushPorts {
  readonly records: Table<TaskPushes>;
  /** All records of all tenants as of a moment ago, without asking the store. */
  readonly known: LiveView<TaskPushes>;
  /** The index of runs. */
  readonly runs: Pick<Table<Run>, "get">;
  readonly target: PushTarget;
  readonly recordAct: RecordAct;
  /** Wall-clock time. */
  readonly clock: Clock;
}

/** Who changes a configuration. */
export interface PushCaller {
  readonly subject: string;
  readonly roles: readonly Role[];
}

/** A task of a tenant. */
export interface TaskKey {
  readonly tenant: string;
  readonly runId: string;
}

const { key } = bucketOf(TaskPushesSchema);

/** Returns the key of the notifications of a task in their table. */
export function pushesKeyOf({ tenant, runId }: TaskKey): string {
  return key({ tenant, run: runId });
}
