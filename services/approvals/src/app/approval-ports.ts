import type { ApprovalTimes } from "@reeve/agent/approval-times/approval-times";
import type { Approval, Grant } from "@reeve/contracts/approval";
import type { Dispatch } from "@reeve/contracts/run";
import type { RecordAct } from "@reeve/jetstream/audit/system-acts";
import type { RunLog, RunTailReader } from "@reeve/jetstream/log/run-log";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";
import type { ApprovalLists } from "./approval-lists.ts";
import type { GroupWatch } from "./groups/watched-groups.ts";
import type { PasskeyPorts } from "./passkeys/passkey-ports.ts";

/** The stores, the queue, and the clock that approvals uses. */
export interface ApprovalPorts extends PasskeyPorts {
  readonly log: RunLog;
  readonly logEnds: RunTailReader;
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish">;
  /** The index of approvals. It follows the logs of the runs with a short delay. */
  readonly inbox: Table<Approval>;
  /** The decisions about further calls, and what they were used for. */
  readonly grants: Table<Grant>;
  readonly lists: ApprovalLists;
  /** Performs an act of the service, and records it in the audit trail. */
  readonly recordAct: RecordAct;
  /** Milliseconds since the epoch. */
  readonly clock: Clock;
  /** The operator's policy of now about when calls can be approved. Undefined: there is none. */
  readonly times: () => ApprovalTimes | undefined;
  /** Knows of which groups somebody uses the inbox. */
  readonly groups: GroupWatch;
  /** Returns the page on which people decide an approval. Undefined: it is not known. */
  readonly inboxUrl: ((approvalId: string) => string) | undefined;
}
