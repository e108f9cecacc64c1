import type { RunStatus } from "#contracts/run";

/** Ends a request early. */
export interface CallOptions {
  readonly signal?: AbortSignal;
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
}

export interface ListApprovalsOptions extends ListOptions {
  /** Only approvals of this run. */
  readonly runId?: string;
  /** Whether to include approvals that are no longer pending. Default: false. */
  readonly includeClosed?: boolean;
}

export interface ListArtifactsOptions extends ListOptions {
  /** Only artifacts that this run created. */
  readonly runId?: string;
}

export interface ListFilesOptions extends ListOptions {
  /** A folder, relative to the workspace. Default: the workspace itself. */
  readonly path?: string;
  /** Whether to include the content of subfolders. Default: false. */
  readonly recursive?: boolean;
}
