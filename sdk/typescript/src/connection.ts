import type { Client, Interceptor } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { IdentityService } from "#contracts/identity";
import { AgentService, ModelService } from "#contracts/agent";
import { ApprovalService } from "#contracts/approval";
import { ArtifactService } from "#contracts/artifact";
import { AuditService } from "#contracts/audit";
import { ClientToolService, ToolService, WorkspaceService } from "#contracts/tool";
import { KnowledgeService } from "#contracts/extensions/knowledge";
import { MemoryService } from "#contracts/memory";
import { NotificationService } from "#contracts/notification";
import { OperationsService } from "#contracts/operations";
import { PasskeyService } from "#contracts/passkey";
import { ReceiptService } from "#contracts/receipt";
import { RunService } from "#contracts/run";
import { ThreadService } from "#contracts/thread";
import { WorkflowService } from "#contracts/extensions/workflow";
import { TriggerService } from "#contracts/trigger";
import type { ServerOptions } from "./client-options.ts";
import { SafeSessionManager } from "./transport/safe-session.ts";

/** The generated services of the API. Their methods throw a ConnectError; `ReeveError.from` converts it. */
export interface Services {
  readonly identity: Client<typeof IdentityService>;
  readonly agents: Client<typeof AgentService>;
  readonly approvals: Client<typeof ApprovalService>;
  readonly artifacts: Client<typeof ArtifactService>;
  readonly audit: Client<typeof AuditService>;
  readonly clientTools: Client<typeof ClientToolService>;
  readonly files: Client<typeof WorkspaceService>;
  readonly knowledge: Client<typeof KnowledgeService>;
  readonly memories: Client<typeof MemoryService>;
  readonly models: Client<typeof ModelService>;
  readonly notifications: Client<typeof NotificationService>;
  readonly operations: Client<typeof OperationsService>;
  readonly passkeys: Client<typeof PasskeyService>;
  readonly receipts: Client<typeof ReceiptService>;
  readonly runs: Client<typeof RunService>;
  readonly threads: Client<typeof ThreadService>;
  readonly tools: Client<typeof ToolService>;
  readonly workflows: Client<typeof WorkflowService>;
  readonly triggers: Client<typeof TriggerService>;
}

/** The generated services over one HTTP/2 connection. Disposing it closes the connection and ends every call on it. */
export interface Connection extends Services, Disposable {}

/**
 * Returns the generated services of a server, without the retries and time limits of a `Client`. The connection opens
 * with the first request, and reopens with the next request after it broke.
 */
export function openConnection({ address, token, ca, cert, key }: ServerOptions): Connection {
  const session = new SafeSessionManager(
    address,
    { pingIntervalMs: 10_000, pingTimeoutMs: 5_000 },
    { ca: pem(ca), cert: pem(cert), key: pem(key) },
  );
  const transport = createGrpcTransport({
    baseUrl: address,
    sessionManager: session,
    interceptors: token === undefined ? [] : [bearer(token)],
  });
  return {
    identity: createClient(IdentityService, transport),
    agents: createClient(AgentService, transport),
    approvals: createClient(ApprovalService, transport),
    artifacts: createClient(ArtifactService, transport),
    audit: createClient(AuditService, transport),
    clientTools: createClient(ClientToolService, transport),
    files: createClient(WorkspaceService, transport),
    knowledge: createClient(KnowledgeService, transport),
    memories: createClient(MemoryService, transport),
    models: createClient(ModelService, transport),
    notifications: createClient(NotificationService, transport),
    operations: createClient(OperationsService, transport),
    passkeys: createClient(PasskeyService, transport),
    receipts: createClient(ReceiptService, transport),
    runs: createClient(RunService, transport),
    threads: createClient(ThreadService, transport),
    tools: createClient(ToolService, transport),
    workflows: createClient(WorkflowService, transport),
    triggers: createClient(TriggerService, transport),
    [Symbol.dispose]: () => session.abort(),
  };
}

function pem(text: string | Uint8Array | undefined): Buffer | undefined {
  return text === undefined ? undefined : Buffer.from(text);
}

function bearer(token: NonNullable<ServerOptions["token"]>): Interceptor {
  return (next) => async (request) => {
    const current = typeof token === "string" ? token : await token();
    request.header.set("authorization", `Bearer ${current}`);
    return await next(request);
  };
}
