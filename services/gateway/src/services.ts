import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter, ServiceImpl, Transport } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { IdentityService } from "@reeve/contracts/identity";
import { AgentService, ModelService } from "@reeve/contracts/agent";
import { ApprovalService } from "@reeve/contracts/approval";
import { ArtifactService } from "@reeve/contracts/artifact";
import { AuditService } from "@reeve/contracts/audit";
import { bucketOf } from "@reeve/contracts/channel";
import { ClientToolService, ToolService, WorkspaceService } from "@reeve/contracts/tool";
import { KnowledgeService } from "@reeve/contracts/extensions/knowledge";
import { MemoryService } from "@reeve/contracts/memory";
import { NotificationService } from "@reeve/contracts/notification";
import { OperationsService } from "@reeve/contracts/operations";
import { PasskeyService } from "@reeve/contracts/passkey";
import { ProjectionSchema } from "@reeve/contracts/projection";
import { ReceiptService } from "@reeve/contracts/receipt";
import { RunService } from "@reeve/contracts/run";
import { ThreadService } from "@reeve/contracts/thread";
import { WorkflowService } from "@reeve/contracts/extensions/workflow";
import { TriggerService } from "@reeve/contracts/trigger";
import { ToolhostPresenceSchema } from "@reeve/contracts/toolhost";
import { WorkerPresenceSchema } from "@reeve/contracts/worker-presence";
import { observeStore } from "@reeve/jetstream/observe/observed-store";
import { reserveState } from "@reeve/jetstream/reserve/reserve-state";
import { LaterTable } from "@reeve/jetstream/table/later-table";
import { openTable } from "@reeve/jetstream/table/nats";
import { systemClock } from "@reeve/platform/async/clock";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { GatewayPorts } from "./app/gateway-ports.ts";
import type { TriggerPorts } from "./app/triggers/trigger-ports.ts";
import type { FilesPorts } from "./app/workspace-files.ts";
import { readActionsOf } from "./audit/method-audit.ts";
import type { Audit } from "./audit/open-audit.ts";
import type { KnownCredentials } from "./auth/listed-credentials.ts";
import type { GatewayConfig } from "./config.ts";
import type { DeploymentPorts } from "./operations/deployment.ts";
import { Deployment } from "./operations/deployment.ts";
import type { ReceiptKeys } from "./receipts/open-receipt-keys.ts";
import { identityService } from "./rpc/identity-service.ts";
import { agentService } from "./rpc/agent-service.ts";
import { approvalService } from "./rpc/approval-service.ts";
import { artifactService } from "./rpc/artifact-service.ts";
import { auditService } from "./rpc/audit-service.ts";
import { clientToolService } from "./rpc/client-tool-service.ts";
import { knowledgeService } from "./rpc/knowledge/knowledge-service.ts";
import { memoryService } from "./rpc/memory-service.ts";
import { modelService } from "./rpc/deployment/model-service.ts";
import { notificationService } from "./rpc/notification-service.ts";
import { operationsService } from "./rpc/operations-service.ts";
import { passkeyService } from "./rpc/passkey-service.ts";
import { receiptService } from "./rpc/receipt-service.ts";
import { runService } from "./rpc/run-service.ts";
import { threadService } from "./rpc/thread-service.ts";
import { triggerService } from "./rpc/trigger-service.ts";
import { toolService } from "./rpc/tool-service.ts";
import { workflowService } from "./rpc/workflow-service.ts";
import { workspaceService } from "./rpc/workspace-service.ts";
import { toolhostFiles } from "./toolhost-files.ts";

/** An RPC service with its handlers. */
export interface RegisteredService {
  readonly service: DescService;
  register(router: ConnectRouter): void;
}

/** What the services of the gateway work with. */
interface GatewayParts {
  readonly ports: GatewayPorts;
  readonly nats: Nats;
  /** Carries requests to approvals. */
  readonly approvals: Transport;
  readonly log: Logger;
  readonly audit: Pick<Audit, "trail">;
  readonly receiptKeys: () => ReceiptKeys;
  /** The credentials that the gateway knows before anybody uses them. */
  readonly credentials: KnownCredentials;
  readonly triggers: TriggerPorts;
}

/**
 * Returns all RPC services of the gateway. To add a service, add it to this list; to add a method, add its handler to the
 * service's file in `rpc/`. `ending` aborts when the gateway shuts down.
 */
export async function gatewayServices(
  config: GatewayConfig,
  { ports, nats, approvals, log, audit, receiptKeys, triggers, credentials }: GatewayParts,
  ending: AbortSignal,
): Promise<readonly RegisteredService[]> {
  const watchContext = { sleep: systemClock.sleep, ending, log };
  const files = await filesPorts(ports, nats);
  let readActions: ReadonlySet<string> | undefined;
  const isRead = (action: string) => {
    readActions ??= readActionsOf(services.map(({ service }) => service));
    return readActions.has(action);
  };
  const services: readonly RegisteredService[] = [
    registered(IdentityService, identityService(config.REEVE_AUDIT_TENANT)),
    registered(RunService, runService(ports, watchContext)),
    registered(AgentService, agentService(ports, { log })),
    registered(ArtifactService, artifactService(ports)),
    registered(
      AuditService,
      auditService({
        trail: audit.trail,
        operatingTenant: config.REEVE_AUDIT_TENANT,
        isRead,
      }),
    ),
    registered(
      OperationsService,
      operationsService({
        deployment: new Deployment(await deploymentPorts(nats)),
        quotas: ports.quotaLimits,
        credentials,
        operatingTenant: config.REEVE_AUDIT_TENANT,
      }),
    ),
    registered(KnowledgeService, knowledgeService(ports)),
    registered(MemoryService, memoryService(ports)),
    registered(ModelService, modelService(ports.models, config.REEVE_AUDIT_TENANT)),
    registered(ReceiptService, receiptService({ ...ports, receiptKeys })),
    registered(ThreadService, threadService(ports)),
    registered(ClientToolService, clientToolService(ports, watchContext)),
    registered(ToolService, toolService(ports)),
    registered(WorkflowService, workflowService(ports)),
    registered(TriggerService, triggerService(triggers)),
    registered(WorkspaceService, workspaceService(files)),
    registered(
      ApprovalService,
      approvalService(createClient(ApprovalService, approvals), config.REEVE_INTERNAL_TOKEN),
    ),
    registered(
      PasskeyService,
      passkeyService(createClient(PasskeyService, approvals), config.REEVE_INTERNAL_TOKEN),
    ),
    registered(
      NotificationService,
      notificationService(
        createClient(NotificationService, approvals),
        config.REEVE_INTERNAL_TOKEN,
      ),
    ),
  ];
  return services;
}

function registered<Service extends DescService>(
  service: Service,
  handlers: ServiceImpl<Service>,
): RegisteredService {
  return { service, register: (router) => void router.service(service, handlers) };
}

async function deploymentPorts(nats: Nats): Promise<DeploymentPorts> {
  return {
    store: observeStore(nats, await openTable(nats, ProjectionSchema)),
    // Missing while a deployment changes to this version.
    workers: new LaterTable(bucketOf(WorkerPresenceSchema).name, () =>
      openTable(nats, WorkerPresenceSchema),
    ),
    toolhosts: await openTable(nats, ToolhostPresenceSchema),
    isReserveInUse: () => reserveState(nats.connection).isSpent,
    clock: systemClock,
  };
}

async function filesPorts(ports: GatewayPorts, nats: Nats): Promise<FilesPorts> {
  const presence = await openTable(nats, ToolhostPresenceSchema);
  const { key } = bucketOf(ToolhostPresenceSchema);
  return {
    log: ports.log,
    records: ports.workspaces.records,
    requestFiles: toolhostFiles(nats),
    isPresent: async (host, signal) => (await presence.get(key({ host }), signal)) !== undefined,
  };
}
