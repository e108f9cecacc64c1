/** A client of Reeve: starts runs, watches them over lost connections, decides approvals, and transfers files. */
export { Code } from "@connectrpc/connect";
export type { Agent, AgentSpec } from "#contracts/agent";
export type { Approval, Grant } from "#contracts/approval";
export { ApprovalState, GrantScope } from "#contracts/approval";
export type { Artifact } from "#contracts/artifact";
export type { AuditEvent } from "#contracts/audit";
export { AuditOutcome } from "#contracts/audit";
export { ErrorReason } from "#contracts/error";
export type { Collection, Document, Passage } from "#contracts/extensions/knowledge";
export type { Memory } from "#contracts/memory";
export type {
  ApplyModelRegistryResponse,
  GetModelRegistryResponse,
  ModelRegistry,
  RegistryChange,
  StoredModel,
  StoredProvider,
} from "#contracts/agent";
export type { DeadNotification } from "#contracts/notification";
export type { GetDeploymentResponse, ModelActivity, QuotaLimit } from "#contracts/operations";
export type { Passkey } from "#contracts/passkey";
export type { Envelope, ReceiptKey } from "#contracts/receipt";
export { Role } from "#contracts/role";
export type { Run, RunEvent } from "#contracts/run";
export { EventFamily, RunStatus, StepState } from "#contracts/run";
export type { ExecutionTree, Thread, ThreadMessage } from "#contracts/thread";
export type { FileEntry, ToolDescriptor } from "#contracts/tool";
export type { Firing, Trigger, TriggerSpec } from "#contracts/trigger";
export { FiringOutcome, TriggerState } from "#contracts/trigger";
export type {
  Agents,
  AppliedAgent,
  CreateAgentOptions,
  ExplainOptions,
  ListAgentsOptions,
  RevisionOptions,
  StoredAgent,
  ValidateAgentOptions,
} from "./agents.ts";
export type { WatchApprovalsOptions } from "./watch/approval-watch.ts";
export { ApprovalWatch } from "./watch/approval-watch.ts";
export type { Approvals } from "./approvals.ts";
export type { AuditTrail } from "./audit.ts";
export type {
  CallOptions,
  ListApprovalsOptions,
  ListArtifactsOptions,
  ListAuditEventsOptions,
  ListDeadNotificationsOptions,
  ListFilesOptions,
  ListGrantsOptions,
  ListOptions,
  ListRunsOptions,
  SendOptions,
} from "./call-options.ts";
export type { StartRunOptions } from "./client.ts";
export { Client, connect } from "./client.ts";
export type { ClientOptions, ServerOptions } from "./client-options.ts";
export type { Connection, Services } from "./connection.ts";
export { openConnection } from "./connection.ts";
export type { DeadNotifications } from "./dead-notifications.ts";
export type { Files } from "./files.ts";
export type { Knowledge } from "./knowledge/knowledge.ts";
export type { Memories } from "./memories.ts";
export type { Models, SeenEntry } from "./deployment/models.ts";
export type { Passkeys } from "./passkeys.ts";
export type { ReceiptOptions, Receipts } from "./receipts.ts";
export type { Violation } from "./reeve-error.ts";
export { ReeveError } from "./reeve-error.ts";
export type { Threads } from "./threads.ts";
export type { CreatedTrigger, FireOptions, Triggers } from "./automation/triggers.ts";
export type { ClientTool, ReceivedCall } from "./tools/client-tool.ts";
export { manifestOf } from "./tools/client-tool.ts";
export type { ServeToolsOptions } from "./tools/serve-tools.ts";
export type {
  ListNodeTypesOptions,
  ValidateWorkflowOptions,
  Workflows,
} from "./automation/workflows.ts";
export type { Content, Download, FileDownload, Upload } from "./transfer.ts";
export type { WatchOptions } from "./watch/watch.ts";
export { Watch } from "./watch/watch.ts";
