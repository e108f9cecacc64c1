import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
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
import { ToolService, WorkspaceService } from "@reeve/contracts/tool";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { reasonName } from "@reeve/platform/reason-name";
import { afterAll, beforeAll, expect, test } from "vitest";
import { authorized, protocols } from "./support/clients.ts";
import type { GatewayBench } from "./support/gateway-bench.ts";
import { openGatewayBench, tokenWithRole } from "./support/gateway-bench.ts";

const services: readonly DescService[] = [
  IdentityService,
  AgentService,
  ApprovalService,
  ArtifactService,
  AuditService,
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
  ToolService,
  WorkflowService,
  WorkspaceService,
];

/** What each role may call beside the methods of a viewer. */
const permitted = {
  viewer: [],
  runner: [
    "ApprovalService/AnswerQuestion",
    "ArtifactService/CreateArtifact",
    "ArtifactService/UploadArtifact",
    "KnowledgeService/AddDocument",
    "KnowledgeService/CreateCollection",
    "KnowledgeService/DeleteCollection",
    "KnowledgeService/DeleteDocument",
    "KnowledgeService/RefreshDocument",
    "KnowledgeService/UpdateCollection",
    "MemoryService/CreateMemory",
    "MemoryService/DeleteMemory",
    "RunService/CancelRun",
    "RunService/RetryRun",
    "RunService/SendMessage",
    "RunService/StartRun",
    "TriggerService/CreateTrigger",
    "TriggerService/DeleteTrigger",
    "TriggerService/FireTrigger",
    "TriggerService/PauseTrigger",
    "TriggerService/ResumeTrigger",
    "TriggerService/RotateTriggerSecret",
    "TriggerService/UpdateTrigger",
    "WorkspaceService/WriteFile",
  ],
  approver: [
    "ApprovalService/AssignApproval",
    "ApprovalService/CommentApproval",
    "ApprovalService/DecideApproval",
    "ApprovalService/DecideApprovals",
    "ApprovalService/RevokeGrant",
    "PasskeyService/BeginConfirmation",
    "PasskeyService/BeginPasskeyRegistration",
    "PasskeyService/RegisterPasskey",
  ],
  author: [
    "AgentService/CreateAgent",
    "AgentService/DeleteAgent",
    "AgentService/ExplainAgent",
    "AgentService/UpdateAgent",
  ],
  operator: [
    "ArtifactService/DeleteArtifact",
    "AuditService/ListAuditEvents",
    "ModelService/ApplyModelRegistry",
    "ModelService/DeleteModel",
    "ModelService/DeleteProvider",
    "ModelService/GetModelRegistry",
    "ModelService/PutModel",
    "ModelService/PutProvider",
    "NotificationService/ListDeadNotifications",
    "NotificationService/ReplayNotification",
    "OperationsService/GetDeployment",
    "OperationsService/ListCredentials",
    "PasskeyService/InvitePasskey",
    "RunService/DeleteRun",
    "ThreadService/DeleteThread",
  ],
} as const;
type RoleName = keyof typeof permitted;

const restricted = new Set<string>(Object.values(permitted).flat());
const methods = services.flatMap((service) =>
  service.methods.map((method) => ({ name: `${service.name}/${method.name}`, service, method })),
);

let bench: GatewayBench;
beforeAll(async () => {
  bench = await openGatewayBench({ REEVE_AUDIT_TENANT: "acme" });
});
afterAll(() => bench[Symbol.asyncDispose]());

test.each(Object.keys(permitted) as RoleName[])(
  "a caller with the role %s is refused exactly what it may not call",
  async (role) => {
    const denied = [];
    for (const each of methods) {
      if (await isDenied(role, each.service, each.method)) denied.push(each.name);
    }
    const own: readonly string[] = permitted[role];
    expect(denied.toSorted()).toEqual(
      [...restricted].filter((name) => !own.includes(name)).toSorted(),
    );
  },
);

/** Calls a method with an empty request, and returns whether the role of the caller forbids it. */
async function isDenied(
  role: RoleName,
  service: DescService,
  method: DescMethod,
): Promise<boolean> {
  const transport = authorized(protocols.gRPC(bench.url), `Bearer ${tokenWithRole(role)}`);
  // The methods of a client are functions of a request, by name.
  const client = createClient(service, transport) as unknown as Record<
    string,
    (request: unknown, options: object) => Promise<unknown> | AsyncIterable<unknown>
  >;
  const isUpload = method.methodKind === "client_streaming";
  try {
    // A watch that is permitted may stay silent until its deadline. A refusal must come before, however busy the machine is.
    const timeoutMs = method.methodKind === "server_streaming" ? 5_000 : 60_000;
    const answer = client[method.localName]?.(isUpload ? noMessages() : {}, { timeoutMs });
    if (answer !== undefined && Symbol.asyncIterator in answer) for await (const _ of answer) break;
    else await answer;
    return false;
  } catch (error) {
    return reasonName(failureFrom(error).reason) === "PERMISSION_DENIED";
  }
}

async function* noMessages(): AsyncIterable<object> {}
