import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { approvalsConfig } from "@reeve/approvals/config";
import { startApprovals } from "@reeve/approvals/serve";
import { AgentService, ModelCatalogSchema } from "@reeve/contracts/agent";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { ArtifactService } from "@reeve/contracts/artifact";
import { MemoryService } from "@reeve/contracts/memory";
import { RunEventSchema, RunService, RunStatus } from "@reeve/contracts/run";
import { gatewayConfig } from "@reeve/gateway/config";
import { startGateway } from "@reeve/gateway/serve";
import { emptyTail } from "@reeve/jetstream/log/port";
import { openRunLog } from "@reeve/jetstream/log/open";
import { openTable } from "@reeve/jetstream/table/nats";
import { startSmallNats } from "@reeve/jetstream/test/small-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { failureFrom, reasonName } from "@reeve/platform/rpc/connect-failure";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { afterAll, beforeAll, expect, test } from "vitest";

const never = new AbortController().signal;
const resources = new AsyncDisposableStack();
const log = createLogger("test", "silent");
const input = "x".repeat(250_000);
let clients: Awaited<ReturnType<typeof open>>;

async function open() {
  const server = resources.use(await startSmallNats(32 * 1024 * 1024));
  const nats = resources.use(await connectNats(server.url, { name: "test", log }, never));
  const models = await openTable(nats, ModelCatalogSchema);
  const catalog = create(ModelCatalogSchema, {
    models: [{ id: "known", provider: "scripted", upstreamName: "known" }],
    providers: [{ name: "scripted", scripted: true, upstreamNames: ["known"] }],
  });
  await models.put("default", catalog, never);
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
        REEVE_TOKENS: "token-of-ann=acme/ann",
        REEVE_APPROVALS_URL: approvals.url,
        REEVE_STORE_RESERVE_BYTES: String(4 * 1024 * 1024),
      }),
      { nats, log },
      never,
    ),
  );
  const transport = createGrpcTransport({
    baseUrl: gateway.url,
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", "Bearer token-of-ann");
        return next(request);
      },
    ],
  });
  const streams = async (name: string) =>
    (await nats.connection.request(`$JS.API.STREAM.INFO.${name}`)).json<{
      readonly state?: { readonly messages: number };
    }>();
  return {
    runs: createClient(RunService, transport),
    agents: createClient(AgentService, transport),
    approvals: createClient(ApprovalService, transport),
    artifacts: createClient(ArtifactService, transport),
    memories: createClient(MemoryService, transport),
    runLog: await openRunLog(nats),
    reserved: async () => (await streams("RESERVE")).state?.messages ?? 0,
  };
}

beforeAll(async () => {
  clients = await open();
  for (const id of ["writer", "spare"]) {
    await clients.agents.createAgent({ spec: { id, name: id, model: "known" } });
  }
}, 60_000);

afterAll(() => resources.disposeAsync());

async function start(): Promise<string> {
  const { run } = await clients.runs.startRun({ agentId: "writer", input });
  return run?.runId ?? "";
}

const reasonOf = async (request: Promise<unknown>) => {
  const error = await request.then(() => undefined, failureFrom);
  return error && reasonName(error.reason);
};

/** Starts a run that waits for an approval. */
async function waiting(): Promise<{ readonly runId: string; readonly approvalId: string }> {
  const runId = await start();
  const key = { tenant: "acme", run: runId };
  const approvalId = `${runId}-2-0`;
  const approval = { approvalId, runId, state: ApprovalState.PENDING };
  const facts: readonly ExternalFact[] = [
    { case: "approval", value: { approval } },
    { case: "runParked", value: { waitingFor: [approvalId] } },
  ];
  const { tail } = await clients.runLog.read(key, emptyTail, never);
  const events = facts.map((event, index) =>
    create(RunEventSchema, { runId, sequence: tail.sequence + 1 + index, event }),
  );
  await clients.runLog.append(key, tail, events, never);
  return { runId, approvalId };
}

test("a full store accepts nothing new, but decisions, cancellations, and deletions, which make room again", async () => {
  const { runs, agents, approvals, artifacts, memories } = clients;
  // The store keeps room before it is full.
  await expect.poll(clients.reserved, { timeout: 20_000 }).toBe(32);
  const [decided, cancelled] = [await waiting(), await start()];
  await expect
    .poll(() => reasonOf(approvals.getApproval({ approvalId: decided.approvalId })), {
      timeout: 20_000,
    })
    .toBeUndefined();
  const started: string[] = [];
  const startUntilRefused = async () => {
    for (;;) started.push(await start());
  };
  const refusal = await startUntilRefused().catch(failureFrom);
  expect(refusal).toMatchObject({ kind: "exhausted" });
  expect(refusal.message).toContain("reeve delete RUN");
  const content = new Uint8Array(1_000);
  async function* upload() {
    yield { part: { case: "header", value: { name: "a" } } } as const;
    yield { part: { case: "chunk", value: content } } as const;
  }
  const spec = { id: "new", name: "new", model: "known" };
  const refused = [
    artifacts.createArtifact({ header: { name: "a" }, content }),
    artifacts.uploadArtifact(upload()),
    agents.createAgent({ spec }),
    agents.updateAgent({ spec: { ...spec, id: "spare" } }),
    memories.createMemory({ text: "a fact" }),
  ];
  expect(await Promise.all(refused.map(reasonOf))).toEqual(refused.map(() => "STORAGE_FULL"));

  const { approval } = await approvals.decideApproval({
    approvalId: decided.approvalId,
    approved: true,
  });
  expect(approval?.state).toBe(ApprovalState.APPROVED);
  const { run } = await runs.cancelRun({ runId: cancelled });
  expect(run?.status).toBe(RunStatus.CANCELLED);
  await agents.deleteAgent({ agentId: "spare" });
  expect(await runs.deleteRun({ runId: cancelled })).toMatchObject({ existed: true });
  for (const runId of started) {
    await runs.cancelRun({ runId });
    await runs.deleteRun({ runId });
  }
  await expect.poll(() => reasonOf(start()), { timeout: 60_000, interval: 500 }).toBeUndefined();
  expect(await clients.reserved()).toBe(32);
}, 120_000);
