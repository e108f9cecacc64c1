import { A2AService } from "@reeve/contracts/a2a-protocol";
import { IdentityService } from "@reeve/contracts/identity";
import { AgentService, ModelService } from "@reeve/contracts/agent";
import { ApprovalService } from "@reeve/contracts/approval";
import { ArtifactService } from "@reeve/contracts/artifact";
import { AuditService } from "@reeve/contracts/audit";
import { KnowledgeService } from "@reeve/contracts/extensions/knowledge";
import { MemoryService } from "@reeve/contracts/memory";
import { NotificationService } from "@reeve/contracts/notification";
import { OperationsService } from "@reeve/contracts/operations";
import { PasskeyService } from "@reeve/contracts/passkey";
import { ReceiptService } from "@reeve/contracts/receipt";
import { RunService } from "@reeve/contracts/run";
import { ThreadService } from "@reeve/contracts/thread";
import { WorkflowService } from "@reeve/contracts/extensions/workflow";
import { TriggerService } from "@reeve/contracts/trigger";
import { ClientToolService, ToolService, WorkspaceService } from "@reeve/contracts/tool";

/** The services that the gateway serves to clients, in the order of their names. */
export const publicServices: readonly string[] = [
  AgentService,
  ApprovalService,
  ArtifactService,
  AuditService,
  IdentityService,
  KnowledgeService,
  MemoryService,
  ModelService,
  NotificationService,
  OperationsService,
  PasskeyService,
  ReceiptService,
  RunService,
  ThreadService,
  TriggerService,
  ClientToolService,
  ToolService,
  WorkflowService,
  WorkspaceService,
]
  .map(({ typeName }) => typeName)
  .toSorted();

/** The addresses that need no client of the API: webhooks of triggers, and agents that are offered through A2A, over HTTP and gRPC. */
export const publicPaths: readonly string[] = ["v1/hooks", "a2a", A2AService.typeName];
