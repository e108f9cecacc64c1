import { collectionRequests } from "./collection-requests.ts";
import type { TenantRequest } from "./tenant-request.ts";
import { ids, secret } from "./tenant-request.ts";

/** An agent of the owner. */
export const spec = { id: "theirs", name: "theirs", model: "known", instructions: secret };

/** A trigger of the owner. */
export const triggerSpec = {
  triggerId: "theirs",
  agentId: "theirs",
  input: secret,
  source: { case: "webhook", value: {} },
} as const;

/** Every method, in the order in which the owner can call them. */
export const table: Readonly<Record<string, TenantRequest>> = {
  "AgentService/GetAgent": { request: () => ({ agentId: "theirs" }), stranger: "AGENT_NOT_FOUND" },
  "AgentService/ListAgents": { request: () => ({}) },
  "AgentService/ListAgentRevisions": {
    request: () => ({ agentId: "theirs" }),
    stranger: "AGENT_NOT_FOUND",
  },
  "AgentService/UpdateAgent": {
    request: () => ({ spec: { ...spec, instructions: "" } }),
    stranger: "AGENT_NOT_FOUND",
  },
  "AgentService/ExplainAgent": {
    request: () => ({ agentId: "theirs" }),
    stranger: "AGENT_NOT_FOUND",
  },
  "AgentService/ValidateAgent": { request: () => ({ spec: { ...spec, instructions: "" } }) },
  "AgentService/ListModels": { request: () => ({}) },
  "ClientToolService/OfferTools": {
    request: () => ({
      target: { case: "runId", value: ids.run },
      manifest: { clientId: "page", tools: [{ name: "show" }] },
    }),
    stranger: "RUN_NOT_FOUND",
  },
  "ClientToolService/AnswerToolCall": {
    request: () => ({
      runId: ids.run,
      callId: `${ids.run}-2-0`,
      clientId: "page",
      answer: { case: "text", value: "new" },
    }),
    stranger: "RUN_NOT_FOUND",
    owner: "CALL_NOT_FOUND",
  },
  "ApprovalService/GetApproval": {
    request: () => ({ approvalId: ids.approval }),
    stranger: "APPROVAL_NOT_FOUND",
  },
  "ApprovalService/ListApprovals": { request: () => ({}) },
  "ApprovalService/CountApprovals": { request: () => ({}) },
  "ApprovalService/ListSimilarDecisions": {
    request: () => ({ approvalId: ids.approval }),
    stranger: "APPROVAL_NOT_FOUND",
  },
  "ApprovalService/CommentApproval": {
    request: () => ({ approvalId: ids.approval, text: "new" }),
    stranger: "APPROVAL_NOT_FOUND",
    owner: "APPROVAL_NOT_FOUND",
  },
  "ApprovalService/AssignApproval": {
    request: () => ({ approvalId: ids.approval, assignee: "new" }),
    stranger: "APPROVAL_NOT_FOUND",
    owner: "APPROVAL_NOT_FOUND",
  },
  "ApprovalService/WatchApprovals": { request: () => ({}), isWatch: true },
  "ApprovalService/DecideApproval": {
    request: () => ({ approvalId: ids.approval, approved: true }),
    stranger: "APPROVAL_NOT_FOUND",
    owner: "APPROVAL_NOT_FOUND",
  },
  // Each approval that is not found is a result of its own.
  "ApprovalService/DecideApprovals": {
    request: () => ({ decided: [{ approvalId: ids.approval }], approved: true }),
  },
  "ApprovalService/AnswerQuestion": {
    request: () => ({ approvalId: ids.approval, answer: {} }),
    stranger: "APPROVAL_NOT_FOUND",
    owner: "APPROVAL_NOT_FOUND",
  },
  "ApprovalService/ListGrants": { request: () => ({}) },
  "ApprovalService/RevokeGrant": {
    request: () => ({ grantId: ids.grant }),
    stranger: "APPROVAL_NOT_FOUND",
  },
  "ArtifactService/CreateArtifact": {
    request: () => ({ header: { name: "new" }, content: Buffer.from("new") }),
  },
  "ArtifactService/UploadArtifact": {
    request: () => [
      { part: { case: "header", value: { name: "new" } } },
      { part: { case: "chunk", value: Buffer.from("new") } },
    ],
  },
  "ArtifactService/DownloadArtifact": {
    request: () => ({ artifactId: ids.artifact }),
    stranger: "ARTIFACT_NOT_FOUND",
  },
  "ArtifactService/ListArtifacts": { request: () => ({}) },
  "IdentityService/GetCaller": { request: () => ({}) },
  "AuditService/ListAuditEvents": { request: () => ({}) },
  ...collectionRequests,
  "MemoryService/CreateMemory": { request: () => ({ text: "new" }) },
  "MemoryService/ListMemories": { request: () => ({}) },
  "MemoryService/RecallMemories": { request: () => ({ query: secret }) },
  "MemoryService/DeleteMemory": {
    request: () => ({ memoryId: ids.memory }),
    stranger: "MEMORY_NOT_FOUND",
  },
  // Deployments without receivers have no dead letters of anybody.
  "NotificationService/ListDeadNotifications": {
    request: () => ({}),
    stranger: "INVALID_REQUEST",
    owner: "INVALID_REQUEST",
  },
  "NotificationService/ReplayNotification": {
    request: () => ({ notificationId: `msg_${"0".repeat(32)}` }),
    stranger: "INVALID_REQUEST",
    owner: "INVALID_REQUEST",
  },
  // Deployments without an operating tenant show their state to nobody.
  // No tenant of this gateway operates the deployment.
  "ModelService/GetModelRegistry": {
    request: () => ({}),
    stranger: "PERMISSION_DENIED",
    owner: "PERMISSION_DENIED",
  },
  "ModelService/PutModel": {
    request: () => ({ model: { id: "theirs", provider: "known" } }),
    stranger: "PERMISSION_DENIED",
    owner: "PERMISSION_DENIED",
  },
  "ModelService/DeleteModel": {
    request: () => ({ modelId: "theirs" }),
    stranger: "PERMISSION_DENIED",
    owner: "PERMISSION_DENIED",
  },
  "ModelService/PutProvider": {
    request: () => ({ provider: { providerId: "theirs", baseUrl: "https://example.org" } }),
    stranger: "PERMISSION_DENIED",
    owner: "PERMISSION_DENIED",
  },
  "ModelService/DeleteProvider": {
    request: () => ({ providerId: "theirs" }),
    stranger: "PERMISSION_DENIED",
    owner: "PERMISSION_DENIED",
  },
  "ModelService/ApplyModelRegistry": {
    request: () => ({}),
    stranger: "PERMISSION_DENIED",
    owner: "PERMISSION_DENIED",
  },
  "OperationsService/GetDeployment": {
    request: () => ({}),
    stranger: "PERMISSION_DENIED",
    owner: "PERMISSION_DENIED",
  },
  "OperationsService/ListModelActivity": { request: () => ({}) },
  "OperationsService/ListQuotas": { request: () => ({}) },
  "OperationsService/ListCredentials": { request: () => ({}) },
  // Deployments without an address for passkeys have none of anybody.
  "PasskeyService/InvitePasskey": {
    request: () => ({ personId: "new" }),
    stranger: "PASSKEYS_NOT_CONFIGURED",
    owner: "PASSKEYS_NOT_CONFIGURED",
  },
  "PasskeyService/BeginPasskeyRegistration": {
    request: () => ({ invitation: "0".repeat(43) }),
    stranger: "PASSKEYS_NOT_CONFIGURED",
    owner: "PASSKEYS_NOT_CONFIGURED",
  },
  "PasskeyService/RegisterPasskey": {
    request: () => ({ invitation: "0".repeat(43), name: "new", response: {} }),
    stranger: "PASSKEYS_NOT_CONFIGURED",
    owner: "PASSKEYS_NOT_CONFIGURED",
  },
  "PasskeyService/BeginConfirmation": {
    request: () => ({ approvalId: ids.approval, callDigest: "0".repeat(64) }),
    stranger: "PASSKEYS_NOT_CONFIGURED",
    owner: "PASSKEYS_NOT_CONFIGURED",
  },
  "PasskeyService/ListPasskeys": { request: () => ({}) },
  "PasskeyService/RevokePasskey": { request: () => ({ credentialId: "new" }) },
  // Nobody was asked about a call of the run, and the deployment has no key for receipts.
  "ReceiptService/GetReceipt": {
    request: () => ({ runId: ids.run, callId: `${ids.run}-1-0` }),
    stranger: "RUN_NOT_FOUND",
    owner: "CALL_NOT_FOUND",
  },
  "ReceiptService/ListReceiptKeys": { request: () => ({}) },
  "RunService/GetRun": { request: () => ({ runId: ids.run }), stranger: "RUN_NOT_FOUND" },
  "RunService/GetExecutionTree": { request: () => ({ runId: ids.run }), stranger: "RUN_NOT_FOUND" },
  "RunService/ListRuns": { request: () => ({}) },
  "RunService/CountRuns": { request: () => ({}) },
  "RunService/WatchRun": {
    request: () => ({ runId: ids.run }),
    stranger: "RUN_NOT_FOUND",
    isWatch: true,
  },
  "RunService/ExportRunLog": { request: () => ({ runId: ids.run }), stranger: "RUN_NOT_FOUND" },
  "RunService/SendMessage": {
    request: () => ({ runId: ids.run, text: "hi" }),
    stranger: "RUN_NOT_FOUND",
  },
  "RunService/StartRun": {
    request: () => ({ agentId: "theirs", input: "hi" }),
    stranger: "AGENT_NOT_FOUND",
  },
  "RunService/CancelRun": { request: () => ({ runId: ids.run }), stranger: "RUN_NOT_FOUND" },
  "RunService/RetryRun": {
    request: () => ({ runId: ids.run }),
    stranger: "RUN_NOT_FOUND",
    owner: "RUN_NOT_FAILED",
  },
  "ThreadService/GetThread": {
    request: () => ({ threadId: "theirs" }),
    stranger: "THREAD_NOT_FOUND",
  },
  "ThreadService/ListThreads": { request: () => ({}) },
  "ThreadService/ListThreadMessages": {
    request: () => ({ threadId: "theirs" }),
    stranger: "THREAD_NOT_FOUND",
  },
  "ThreadService/DeleteThread": {
    request: () => ({ threadId: "theirs" }),
    stranger: "THREAD_NOT_FOUND",
  },
  "ToolService/ListTools": { request: () => ({}) },
  "WorkflowService/ListNodeTypes": {
    request: () => ({ agentId: "theirs" }),
    stranger: "AGENT_NOT_FOUND",
  },
  "WorkflowService/ValidateWorkflow": {
    request: () => ({ workflow: { nodes: [{ id: "a", type: "input" }] } }),
  },
  "TriggerService/GetTrigger": {
    request: () => ({ triggerId: "theirs" }),
    stranger: "TRIGGER_NOT_FOUND",
  },
  "TriggerService/ListTriggers": { request: () => ({}) },
  "TriggerService/UpdateTrigger": {
    request: () => ({ spec: triggerSpec }),
    stranger: "AGENT_NOT_FOUND",
  },
  "TriggerService/PauseTrigger": {
    request: () => ({ triggerId: "theirs" }),
    stranger: "TRIGGER_NOT_FOUND",
  },
  "TriggerService/ResumeTrigger": {
    request: () => ({ triggerId: "theirs" }),
    stranger: "TRIGGER_NOT_FOUND",
  },
  "TriggerService/FireTrigger": {
    request: () => ({ triggerId: "theirs" }),
    stranger: "TRIGGER_NOT_FOUND",
  },
  "TriggerService/RotateTriggerSecret": {
    request: () => ({ triggerId: "theirs" }),
    stranger: "TRIGGER_NOT_FOUND",
  },
  "TriggerService/ListFirings": {
    request: () => ({ triggerId: "theirs" }),
    stranger: "TRIGGER_NOT_FOUND",
  },
  "TriggerService/DeleteTrigger": {
    request: () => ({ triggerId: "theirs" }),
    stranger: "TRIGGER_NOT_FOUND",
  },
  "TriggerService/CreateTrigger": {
    request: () => ({ spec: triggerSpec }),
    stranger: "AGENT_NOT_FOUND",
  },
  "WorkspaceService/ListFiles": {
    request: () => ({ runId: ids.run }),
    stranger: "RUN_NOT_FOUND",
    owner: "FILE_NOT_FOUND",
  },
  "WorkspaceService/ReadFile": {
    request: () => ({ runId: ids.run, path: "a" }),
    stranger: "RUN_NOT_FOUND",
    owner: "FILE_NOT_FOUND",
  },
  "WorkspaceService/WriteFile": {
    request: () => ({
      runId: ids.run,
      path: "a",
      source: { case: "content", value: Buffer.from("a") },
    }),
    stranger: "RUN_NOT_FOUND",
    owner: "UNAVAILABLE",
  },
  "ArtifactService/DeleteArtifact": { request: () => ({ artifactId: ids.artifact }) },
  "RunService/DeleteRun": { request: () => ({ runId: ids.run }) },
  "AgentService/DeleteAgent": {
    request: () => ({ agentId: "theirs" }),
    stranger: "AGENT_NOT_FOUND",
  },
  "AgentService/CreateAgent": { request: () => ({ spec: { ...spec, instructions: "" } }) },
};
