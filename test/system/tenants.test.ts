import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Transport } from "@connectrpc/connect";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { startApprovals } from "@reeve/approvals/serve";
import { approvalsConfig } from "@reeve/approvals/config";
import { IdentityService } from "@reeve/contracts/identity";
import { AgentService, ModelCatalogSchema, ModelService } from "@reeve/contracts/agent";
import {
  ApprovalSchema,
  ApprovalService,
  ApprovalState,
  GrantSchema,
} from "@reeve/contracts/approval";
import { ArtifactService } from "@reeve/contracts/artifact";
import { AuditService } from "@reeve/contracts/audit";
import { bucketOf } from "@reeve/contracts/channel";
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
import { gatewayConfig } from "@reeve/gateway/config";
import { startGateway } from "@reeve/gateway/serve";
import { openTable } from "@reeve/jetstream/table/nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { reasonName } from "@reeve/platform/reason-name";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ids, secret } from "./support/tenants/tenant-request.ts";
import { spec, table, triggerSpec } from "./support/tenants/tenant-requests.ts";

const services = [
  IdentityService,
  AgentService,
  ApprovalService,
  ArtifactService,
  AuditService,
  ClientToolService,
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
] as const;

/** The owner of everything that the table names, and a tenant that knows all the ids. */
const owner = "token-of-the-owner";
const stranger = "token-of-a-stranger";
const never = new AbortController().signal;
const resources = new AsyncDisposableStack();
let url = "";

const methods: readonly (readonly [string, DescService, DescMethod])[] = services.flatMap(
  (service) =>
    service.methods.map((method) => [`${service.name}/${method.name}`, service, method] as const),
);

function transportOf(token: string | undefined): Transport {
  return createGrpcTransport({
    baseUrl: url,
    interceptors: [
      (next) => (request) => {
        if (token !== undefined) request.header.set("authorization", `Bearer ${token}`);
        return next(request);
      },
    ],
  });
}

/** How long a silent stream is watched. */
const silentMs = 1_000;

interface Answer {
  /** The reason of a refusal. */
  readonly reason?: string;
  readonly text: string;
}

/** Calls a method. Of a stream, takes the first message, or none if it stays silent. */
async function call(
  name: string,
  token: string | undefined,
  { isSilent = false } = {},
): Promise<Answer> {
  const [, service, method] = methods.find(([each]) => each === name) ?? [];
  const row = table[name];
  if (service === undefined || method === undefined || row === undefined) throw new Error(name);
  const end = new AbortController();
  // The methods of a client are functions of a request, by name.
  const client = createClient(service, transportOf(token)) as unknown as Record<
    string,
    (request: unknown, options: object) => Promise<unknown> | AsyncIterable<unknown>
  >;
  const given = row.request();
  const request = Array.isArray(given) ? streamOf(given) : given;
  try {
    const answer = client[method.localName]?.(request, {
      signal: end.signal,
      timeoutMs: isSilent ? silentMs : 60_000,
    });
    if (answer === undefined) throw new Error(`${name} has no method`);
    const value = Symbol.asyncIterator in answer ? await first(answer) : await answer;
    return { text: textOf(value) };
  } catch (error) {
    if (isSilent && ConnectError.from(error).code === Code.DeadlineExceeded) return { text: "" };
    const { reason, message } = failureFrom(error);
    return { reason: reasonName(reason), text: message };
  } finally {
    end.abort();
  }
}

async function first(messages: AsyncIterable<unknown>): Promise<unknown> {
  for await (const message of messages) return message;
  return undefined;
}

async function* streamOf(messages: readonly object[]): AsyncIterable<object> {
  for (const message of messages) yield await Promise.resolve(message);
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "bigint" ? String(inner) : inner,
  );
}

/** Everything of the owner, as the owner reads it. */
async function stateOfOwner(): Promise<readonly string[]> {
  const reads = [
    "AgentService/GetAgent",
    "ApprovalService/GetApproval",
    "ApprovalService/ListGrants",
    "ArtifactService/ListArtifacts",
    "KnowledgeService/ListDocuments",
    "MemoryService/ListMemories",
    "RunService/GetRun",
    "ThreadService/GetThread",
    "TriggerService/GetTrigger",
  ];
  return await Promise.all(reads.map(async (name) => (await call(name, owner)).text));
}

beforeAll(async () => {
  const log = createLogger("test", "silent");
  const storeDir = mkdtempSync(join(tmpdir(), "reeve-tenants-"));
  resources.defer(() => rmSync(storeDir, { recursive: true, force: true }));
  const server = resources.use(await startNatsServer({ storeDir, log }, never));
  const nats = resources.use(await connectNats(server.url, { name: "test", log }, never));
  const models = await openTable(nats, ModelCatalogSchema);
  const catalog = create(ModelCatalogSchema, {
    models: [{ id: "known", provider: "scripted", upstreamName: "known" }],
    providers: [{ name: "scripted", scripted: true, upstreamNames: ["known"] }],
  });
  await models.put("default", catalog, never);
  const inbox = await openTable(nats, ApprovalSchema);
  const internal = { REEVE_INTERNAL_TOKEN: "internal-token-of-a-test" };
  const approvals = resources.use(
    await startApprovals(
      approvalsConfig.parse({ ...internal, REEVE_APPROVALS_LISTEN: "127.0.0.1:0" }),
      { nats, log },
      never,
    ),
  );
  const gateway = resources.use(
    await startGateway(
      gatewayConfig.parse({
        ...internal,
        REEVE_LISTEN: "127.0.0.1:0",
        REEVE_TOKENS: `${owner}=globex/ann,${stranger}=acme/ann`,
        // Each method gets a wrong token, more than a network may send.
        REEVE_SIGN_IN_LIMIT: "off",
        REEVE_APPROVALS_URL: approvals.url,
      }),
      { nats, log },
      never,
    ),
  );
  ({ url } = gateway);
  const transport = transportOf(owner);
  await createClient(AgentService, transport).createAgent({ spec });
  const started = { agentId: "theirs", input: secret, threadId: "theirs" };
  ids.run = (await createClient(RunService, transport).startRun(started)).run?.runId ?? "";
  const file = { header: { name: secret }, content: Buffer.from(secret) };
  const { artifact } = await createClient(ArtifactService, transport).createArtifact(file);
  ids.artifact = artifact?.artifactId ?? "";
  const knowledge = createClient(KnowledgeService, transport);
  await knowledge.createCollection({ collectionId: "theirs", title: secret });
  const content = { case: "content", value: Buffer.from(secret) } as const;
  const added = { collectionId: "theirs", name: `${secret}.md`, source: content };
  ids.document = (await knowledge.addDocument(added)).document?.documentId ?? "";
  const { memory } = await createClient(MemoryService, transport).createMemory({ text: secret });
  ids.memory = memory?.memoryId ?? "";
  await createClient(TriggerService, transport).createTrigger({ spec: triggerSpec });
  ids.approval = `${ids.run}-2-0`;
  const pending = create(ApprovalSchema, {
    approvalId: ids.approval,
    runId: ids.run,
    agentId: secret,
    state: ApprovalState.PENDING,
  });
  const { key } = bucketOf(ApprovalSchema);
  await inbox.put(key({ tenant: "globex", approval: ids.approval }), pending, never);
  const grants = await openTable(nats, GrantSchema);
  const expiresAt = timestampFromMs(Date.now() + 3_600_000);
  const grant = create(GrantSchema, { grantId: ids.grant, rule: secret, expiresAt });
  const grantKey = bucketOf(GrantSchema).key({ tenant: "globex", grant: ids.grant });
  await grants.put(grantKey, grant, never);
});

afterAll(() => resources.disposeAsync());

describe("the methods of the gateway", () => {
  test("are all in the table", async () => {
    expect(Object.keys(table).toSorted()).toEqual(methods.map(([name]) => name).toSorted());
    const headers = { "content-type": "application/json" };
    const listed = await fetch(`${url}/grpc.health.v1.Health/List`, {
      method: "POST",
      headers,
      body: "{}",
    });
    const { statuses } = (await listed.json()) as { readonly statuses: object };
    expect(
      Object.keys(statuses)
        .filter((name) => name.startsWith("reeve."))
        .toSorted(),
    ).toEqual(services.map(({ typeName }) => typeName).toSorted());
  });

  test.each(Object.keys(table))(
    "%s refuses a request without a token, and with a wrong one",
    async (name) => {
      expect(await call(name, undefined)).toMatchObject({ reason: "UNAUTHENTICATED" });
      expect(await call(name, "token-of-nobody")).toMatchObject({ reason: "UNAUTHENTICATED" });
    },
  );

  // Requirement: RES-11
  test("neither show nor change anything of another tenant", async () => {
    const before = await stateOfOwner();
    for (const text of before) expect(text).toMatch(/text-of-the-owner|theirs/);
    for (const [name, row] of Object.entries(table)) {
      const answer = await call(name, stranger, {
        isSilent: row.isWatch === true && row.stranger === undefined,
      });
      expect([name, answer.reason]).toEqual([name, row.stranger]);
      expect(answer.text).not.toContain(secret);
    }
    expect(await stateOfOwner()).toEqual(before);
  });

  test("answer the owner", async () => {
    for (const [name, row] of Object.entries(table)) {
      const answer = await call(name, owner, { isSilent: row.isWatch === true });
      expect([name, answer.reason]).toEqual([name, row.owner]);
    }
  });
});
