import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ApprovalFilterSchema } from "#contracts/approval";
import type { AuditOutcome } from "#contracts/audit";
import type { RunFilterSchema, RunStatus, SendMessageRequestSchema } from "#contracts/run";

/** Ends a request early. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface SendOptions extends CallOptions {
  /** Parts of the message after its text, such as images. */
  readonly parts?: NonNullable<MessageInitShape<typeof SendMessageRequestSchema>["parts"]>;
}

/** Which items of a list to return. A list requests its pages as the caller reads them. */
export interface ListOptions extends CallOptions {
  /** Maximum number of items. Default: all. */
  readonly limit?: number;
}

export interface ListRunsOptions extends ListOptions {
  /** Only runs of this agent. */
  readonly agentId?: string | undefined;
  /** Only runs of this thread. */
  readonly threadId?: string | undefined;
  /** Only runs with one of these statuses. */
  readonly statuses?: readonly RunStatus[];
  /** Only runs that match, in addition to the options above. */
  readonly filter?: MessageInitShape<typeof RunFilterSchema>;
  /** Lists the most expensive runs first: at most 100 of the newest 10,000, without those that called a model without a price. Default: false, the newest first. */
  readonly byCost?: boolean | undefined;
}

export interface ListApprovalsOptions extends ListOptions {
  /** Only approvals of this run. */
  readonly runId?: string;
  /** Whether to include approvals that are no longer pending. Default: false. */
  readonly includeClosed?: boolean;
  /** Only approvals that match. Its states replace `includeClosed`. */
  readonly filter?: MessageInitShape<typeof ApprovalFilterSchema> | undefined;
}

export interface ListGrantsOptions extends ListOptions {
  /** Only grants about calls of this agent. */
  readonly agentId?: string;
  /** Only grants that were made in this run. */
  readonly runId?: string;
}

export interface ListArtifactsOptions extends ListOptions {
  /** Only artifacts that this run created. */
  readonly runId?: string;
}

/** Which events to list. Without a filter: all. */
export interface ListAuditEventsOptions extends ListOptions {
  /** Only events at or after this time. */
  readonly since?: Date | undefined;
  /** Only events before this time. */
  readonly until?: Date | undefined;
  /** Only events of this subject. */
  readonly subject?: string | undefined;
  /** Only events with this action, such as `run.start`, or with all actions of a kind: `run`. */
  readonly action?: string | undefined;
  /** Only events with a resource that has this id. */
  readonly resourceId?: string | undefined;
  /** Only calls that ended like this. */
  readonly outcome?: AuditOutcome | undefined;
  /** Lists the events without a tenant instead, such as failed sign-ins. Default: false. */
  readonly withoutTenant?: boolean | undefined;
  /** Leaves out calls that only read, and succeeded. Default: false. */
  readonly withoutReads?: boolean | undefined;
}

export interface ListDeadNotificationsOptions extends ListOptions {
  /** Only notifications for this receiver. */
  readonly receiver?: string | undefined;
}

export interface ListFilesOptions extends ListOptions {
  /** A folder, relative to the workspace. Default: the workspace itself. */
  readonly path?: string;
  /** Whether to include the content of subfolders. Default: false. */
  readonly recursive?: boolean;
}
