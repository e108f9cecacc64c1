import { randomBytes } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { AgentSchema, AgentService, ModelCatalogSchema } from "@reeve/contracts/agent";
import { ApprovalService } from "@reeve/contracts/approval";
import { ArtifactService } from "@reeve/contracts/artifact";
import { bucketOf } from "@reeve/contracts/channel";
import { MemorySchema, MemoryService } from "@reeve/contracts/memory";
import { RunSchema, RunService } from "@reeve/contracts/run";
import { ThreadSchema, ThreadService } from "@reeve/contracts/thread";
import {
  ToolCatalogSchema,
  ToolService,
  WorkspaceRecordSchema,
  WorkspaceService,
} from "@reeve/contracts/tool";
import { ToolhostPresenceSchema } from "@reeve/contracts/toolhost";
import { openCallJournal, openRunLog, openThreadLog } from "@reeve/jetstream/log/open";
import { openDispatchQueue } from "@reeve/jetstream/queue/nats";
import { openRunFeed, openThreadFeed } from "@reeve/jetstream/feed/nats";
import { LongTermMemory } from "@reeve/memory/long-term-memory";
import { Background } from "@reeve/platform/async/background";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import type { Listener } from "@reeve/platform/rpc/listener";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Principal } from "@reeve/platform/rpc/principal";
import { authenticate } from "@reeve/platform/rpc/principal";
import type { RunningServer } from "@reeve/platform/rpc/server";
import { serve } from "@reeve/platform/rpc/server";
import { sleep } from "@reeve/platform/async/sleep";
import { traceClientRequests } from "@reeve/platform/rpc/rpc-spans";
import { openLiveView } from "@reeve/jetstream/table/live-view";
import { openArtifactStore } from "@reeve/jetstream/objects/nats-artifact-store";
import { openObjects } from "@reeve/jetstream/objects/nats";
import { openTable } from "@reeve/jetstream/table/nats";
import { mergeCatalogs } from "@reeve/agent/tools/merge-catalogs";
import { workspaceBucket } from "@reeve/jetstream/objects/workspace-store";
import { toolhostFiles } from "./toolhost-files.ts";
import { mergeModels } from "./app/merge-models.ts";
import type { GatewayPorts } from "./app/gateway-ports.ts";
import { openRunLists } from "./app/list-runs.ts";
import { repairThreads } from "./app/sweep/repair-threads.ts";
import { sweepRuns } from "./app/sweep/sweep-runs.ts";
import type { GatewayConfig } from "./config.ts";
import { indexRuns } from "./projections/run-index.ts";
import { indexThreads } from "./projections/thread-index.ts";
import { agentService } from "./rpc/agent-service.ts";
import { approvalService } from "./rpc/approval-service.ts";
import { artifactService } from "./rpc/artifact-service.ts";
import { memoryService } from "./rpc/memory-service.ts";
import { runService } from "./rpc/run-service.ts";
import { threadService } from "./rpc/thread-service.ts";
import { toolService } from "./rpc/tool-service.ts";
import { workspaceService } from "./rpc/workspace-service.ts";

/** The public door: serves the API, keeps the indexes of runs and threads, and looks after threads, until it is disposed. */
export async function startGateway(
  config: GatewayConfig,
  {
    nats,
    log,
    listener,
  }: { readonly nats: Nats; readonly log: Logger; readonly listener?: Listener },
  signal: AbortSignal,
): Promise<RunningServer> {
  await using starting = new AsyncDisposableStack();
  const background = starting.use(new Background(log, signal));
  const ending = new AbortController();
  const ports = await openPorts(config, nats, log, background.signal);
  const { records } = ports.workspaces;
  const requestFiles = toolhostFiles(nats);
  const present = await openTable(nats, ToolhostPresenceSchema);
  const isPresent = async (host: string, until: AbortSignal) =>
    (await present.get(bucketOf(ToolhostPresenceSchema).key({ host }), until)) !== undefined;
  const approvals = createClient(
    ApprovalService,
    createGrpcTransport({
      baseUrl: config.REEVE_APPROVALS_URL,
      interceptors: [traceClientRequests()],
    }),
  );
  const server = starting.use(
    await serve(
      (router) => {
        router.service(
          RunService,
          runService(ports, { ...clock, ending: AbortSignal.any([signal, ending.signal]), log }),
        );
        router.service(AgentService, agentService(ports));
        router.service(ArtifactService, artifactService(ports.artifacts));
        router.service(MemoryService, memoryService(ports.memory));
        router.service(ThreadService, threadService(ports));
        router.service(ToolService, toolService(ports));
        router.service(
          WorkspaceService,
          workspaceService({ ...ports, records, requestFiles, isPresent }),
        );
        router.service(ApprovalService, approvalService(approvals, config.REEVE_INTERNAL_TOKEN));
      },
      {
        ...config.REEVE_LISTEN,
        log,
        services: [
          RunService,
          AgentService,
          ArtifactService,
          MemoryService,
          ThreadService,
          ToolService,
          WorkspaceService,
          ApprovalService,
        ],
        interceptors: [authenticate(tokensOf(config, log))],
        listener,
        ready: () => connectionStateOf(nats.connection).isUp,
      },
      signal,
    ),
  );
  starting.defer(() => ending.abort());
  background.run((until) => repairThreads(ports, clock, log, until));
  background.run((until) => sweepRuns(ports, clock, log, until));
  background.run(async (until) => indexRuns(await openRunFeed(nats), ports, log, until));
  background.run(async (until) => {
    const { threads, threadIndex: index } = ports;
    await indexThreads({ feed: await openThreadFeed(nats), threads, index }, log, until);
  });
  log.info({ url: server.url }, "gateway listens");
  const resources = starting.move();
  return {
    url: server.url,
    port: server.port,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const clock = {
  now: () => Date.now(),
  sleep,
};

async function openPorts(
  config: GatewayConfig,
  nats: Nats,
  log: Logger,
  signal: AbortSignal,
): Promise<GatewayPorts> {
  const tools = await openLiveView(await openTable(nats, ToolCatalogSchema), log, signal);
  const models = await openLiveView(await openTable(nats, ModelCatalogSchema), log, signal);
  const runs = await openTable(nats, RunSchema);
  const runLog = await openRunLog(nats);
  return {
    log: runLog,
    logEnds: runLog,
    journal: await openCallJournal(nats),
    dispatch: await openDispatchQueue(nats, { ackWaitMs: config.REEVE_ACK_WAIT_MS }),
    agents: await openTable(nats, AgentSchema),
    runs,
    runLists: openRunLists(runs, signal),
    artifacts: await openArtifactStore(nats, { maxBytes: config.REEVE_MAX_ARTIFACT_BYTES }),
    memory: new LongTermMemory(await openTable(nats, MemorySchema), clock.now),
    threads: await openThreadLog(nats),
    threadIndex: await openTable(nats, ThreadSchema),
    workspaces: {
      records: await openTable(nats, WorkspaceRecordSchema),
      // Nothing is written here.
      snapshots: await openObjects(nats, { bucket: workspaceBucket, maxBytes: 0 }),
    },
    offer: () => ({ tools: mergeCatalogs(tools()), models: mergeModels(models()) }),
  };
}

function tokensOf(
  { REEVE_TOKENS: tokens }: GatewayConfig,
  log: Logger,
): ReadonlyMap<string, Principal> {
  if (tokens.size > 0) return tokens;
  const development = randomBytes(18).toString("base64url");
  // The only secret that is ever printed: it is worth nothing beyond this machine and this process.
  log.warn(
    { developmentToken: development },
    "no tokens are configured; use this one, which lives as long as the process",
  );
  return new Map([[development, { tenant: "default", subject: "developer" }]]);
}
