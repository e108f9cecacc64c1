import { mergeCatalogs } from "@reeve/agent/tools/merge-catalogs";
import { rememberLast } from "@reeve/platform/remember-last";
import { create, toBinary } from "@bufbuild/protobuf";
import { compositeCatalog } from "@reeve/agent/registry/composite-catalog";
import type { Agent, ModelCatalog, ModelRegistry } from "@reeve/contracts/agent";
import { AgentSchema, ModelCatalogSchema, ModelRegistrySchema } from "@reeve/contracts/agent";
import { CollectionRecordSchema } from "@reeve/contracts/extensions/knowledge";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import { bucketOf } from "@reeve/contracts/channel";
import { ApprovalSchema } from "@reeve/contracts/approval";
import { ToolCatalogSchema, ToolOfferSchema, WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { MemorySchema } from "@reeve/contracts/memory";
import { QueueHolderSchema } from "@reeve/contracts/queue";
import { QuotaUsageSchema } from "@reeve/contracts/quota";
import { RunSchema } from "@reeve/contracts/run";
import { SweeperPresenceSchema } from "@reeve/contracts/sweeper";
import { ThreadSchema } from "@reeve/contracts/thread";
import { confirmAbsence } from "@reeve/jetstream/log/confirm-absence";
import { openCallJournal, openRunLog, openThreadLog } from "@reeve/jetstream/log/open";
import { openObjects } from "@reeve/jetstream/objects/nats";
import { openArtifactStore } from "@reeve/jetstream/objects/nats-artifact-store";
import { workspaceBucket } from "@reeve/jetstream/objects/workspace-store";
import { openDispatchQueue } from "@reeve/jetstream/queue/dispatch";
import { reserveState } from "@reeve/jetstream/reserve/reserve-state";
import { storeIsFull } from "@reeve/jetstream/streams/errors";
import { cachedTable } from "@reeve/jetstream/table/cached-table";
import { LaterTable } from "@reeve/jetstream/table/later-table";
import { openLiveView } from "@reeve/jetstream/table/live-view";
import { indexFolderOf } from "@reeve/jetstream/sealing/open-sealing";
import { openTable } from "@reeve/jetstream/table/nats";
import { openOptionalView } from "@reeve/jetstream/table/optional-view";
import type { Embedder } from "@reeve/knowledge/vectors/embedder";
import { LongTermMemory } from "@reeve/memory/long-term-memory";
import { bootClock } from "@reeve/platform/async/boot-clock";
import { Failure } from "@reeve/platform/failure";
import { systemClock } from "@reeve/platform/async/clock";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { GatewayPorts } from "./app/gateway-ports.ts";
import type { PackedOffer } from "./app/client-tools/packed-offer.ts";
import { isValid, packedWatch } from "./app/client-tools/packed-offer.ts";
import { ToolOffers } from "./app/client-tools/tool-offers.ts";
import { runExists } from "./app/run-exists.ts";
import { costOfRuns, countOpenRuns, openRunLists } from "./app/list-runs.ts";
import { openDocuments } from "./app/knowledge/open-documents.ts";
import { openKnowledge } from "./app/knowledge/open-knowledge.ts";
import { openThreadLists } from "./app/threads/list-threads.ts";
import { GatewayPresence } from "./app/presence/gateway-presence.ts";
import { passkeySiteOf } from "@reeve/agent/deciders/passkey-site";
import type { GatewayConfig } from "./config.ts";
import { DocumentQuotas, documentsIn } from "./quotas/document-quotas.ts";
import { bytesOfArtifacts, openArtifactIndex } from "./quotas/artifact-index.ts";
import { ArtifactQuotas } from "./quotas/artifact-quotas.ts";
import type { Owners, Quota } from "./quotas/quota.ts";
import { QuotaLimits } from "./quotas/quota-limits.ts";
import type { RunQuotaPorts } from "./quotas/run-quotas.ts";
import { RunQuotas } from "./quotas/run-quotas.ts";

interface PortDependencies extends Pick<GatewayPorts, "policy"> {
  readonly nats: Nats;
  readonly log: Logger;
  /** Returns the quotas that are in force. */
  readonly quotas: () => readonly Quota[];
  /** Whether this process is the only one that writes agents. It then reads them from the store once. */
  readonly isOnlyGateway: boolean;
  /** Undefined: only the words of documents are searched. */
  readonly embedder: Embedder | undefined;
}

/** Opens the ports of a gateway on NATS. Their live views follow NATS until `signal` aborts. */
export async function openPorts(
  config: GatewayConfig,
  { nats, log, policy, quotas, embedder, isOnlyGateway }: PortDependencies,
  signal: AbortSignal,
): Promise<GatewayPorts> {
  const tools = await openLiveView(await openTable(nats, ToolCatalogSchema), log, signal);
  const models = await openLiveView(await openTable(nats, ModelCatalogSchema), log, signal);
  const offeredTools = rememberLast(tools, mergeCatalogs);
  const localModels = rememberLast(models, mergeModels);
  const registry = modelRegistry(nats);
  const stored = await openOptionalView(registry, log, signal);
  const offeredModels = rememberLast<ModelCatalog | ModelRegistry, ModelCatalog>(
    () => [localModels(), ...stored()],
    () => compositeCatalog(localModels(), stored()[0]),
  );
  const offerTable = await openTable(nats, ToolOfferSchema, { usesReserve: false });
  const storedOffers = await openLiveView(packedWatch(offerTable), log, signal, {
    keep: isOffered,
  });
  const runs = await openTable(nats, RunSchema);
  const threadIndex = await openTable(nats, ThreadSchema);
  // The times in the files are valid until the machine restarts, as the files are.
  const home = { folder: indexFolderOf(config), log, clock: bootClock };
  const runLists = openRunLists(runs, home, signal);
  const threadLists = openThreadLists(threadIndex, home, signal);
  for (const lists of [runLists, threadLists]) lists.start();
  const runLog = await openRunLog(nats);
  const confirmed = confirmAbsence(runLog);
  const journal = await openCallJournal(nats);
  const presence = new GatewayPresence(await openTable(nats, SweeperPresenceSchema), bootClock);
  const usage = await openTable(nats, QuotaUsageSchema);
  const artifactIndex = openArtifactIndex(await openTable(nats, ArtifactSchema), home, signal);
  const bytesOf = (of: Owners, until: AbortSignal) => bytesOfArtifacts(artifactIndex, of, until);
  const quotaPorts: Omit<RunQuotaPorts, "exists"> = {
    quotas,
    usage,
    clock: systemClock,
    countOpen: (...given) => countOpenRuns(runLists, ...given),
    costOf: (...given) => costOfRuns(runLists, ...given),
    bytesOf,
  };
  const collections = await openTable(nats, CollectionRecordSchema);
  const documentsOf = documentsIn(collections);
  const room = new DocumentQuotas({ quotas, usage, clock: systemClock, documentsOf });
  const assertRoom = () => {
    if (reserveState(nats.connection).isSpent) throw reserveInUse();
  };
  return {
    log: confirmed,
    logEnds: confirmed,
    logParts: confirmed,
    logBatches: confirmed,
    unconfirmedLog: runLog,
    journal,
    remove: { runs: runLog, journals: journal },
    dispatch: await openDispatchQueue(nats, { ackWaitMs: config.REEVE_ACK_WAIT_MS }),
    agents: await openAgents(nats, { log, presence: isOnlyGateway ? undefined : presence }, signal),
    models: { registry, localModels, assertRoom, clock: systemClock },
    runs,
    runLists,
    presence,
    inbox: await openTable(nats, ApprovalSchema),
    artifacts: await openArtifactStore(nats, { maxBytes: config.REEVE_MAX_ARTIFACT_BYTES }),
    memory: new LongTermMemory(await openTable(nats, MemorySchema), systemClock.now),
    knowledge: await openKnowledge({ nats, log, embedder, table: collections, room }, signal),
    documents: openDocuments(config, log),
    threads: await openThreadLog(nats),
    threadIndex,
    threadLists,
    workspaces: {
      records: await openTable(nats, WorkspaceRecordSchema),
      // The gateway only deletes snapshots, and writes none.
      snapshots: await openObjects(nats, { bucket: workspaceBucket, maxBytes: 0 }),
    },
    clientTools: {
      offers: new ToolOffers(offerTable, storedOffers, systemClock.now),
      classes: config.REEVE_CLIENT_TOOL_CLASSES,
      now: systemClock.now,
    },
    artifactQuotas: new ArtifactQuotas({ quotas, usage, clock: systemClock, bytesOf }),
    quotaLimits: new QuotaLimits({ ...quotaPorts, documentsOf }),
    runQuotas: new RunQuotas({
      ...quotaPorts,
      exists: (tenant, run, until) => runExists({ logBatches: confirmed }, { tenant, run }, until),
    }),
    assertRoom,
    policy,
    holders: new LaterTable(bucketOf(QueueHolderSchema).name, () =>
      openTable(nats, QueueHolderSchema),
    ),
    offer: (proposed) => ({
      tools: offeredTools(),
      models: proposed === undefined ? offeredModels() : compositeCatalog(localModels(), proposed),
      hasPasskeys: passkeySiteOf(config.REEVE_PUBLIC_URL) !== undefined,
    }),
  };
}

/** `presence`: undefined if there is no other gateway. */
async function openAgents(
  nats: Nats,
  { log, presence }: { readonly log: Logger; readonly presence: GatewayPresence | undefined },
  signal: AbortSignal,
): Promise<GatewayPorts["agents"]> {
  const stored = await openTable(nats, AgentSchema);
  // With other gateways, an agent would be read here a moment after it was saved or deleted there.
  const writers = presence && {
    solePeriod: () => presence.solePeriod,
    untilNoOtherIsSole: (until: AbortSignal) => presence.untilNoOtherIsSole(until),
  };
  const { table, follow } = cachedTable(stored, { log, bytesOf: bytesOfAgent, writers });
  void follow(signal);
  return table;
}

function bytesOfAgent(agent: Agent): number {
  return toBinary(AgentSchema, agent).length;
}

/** The table may be missing, or closed to this gateway, while a deployment changes to this version. */
function modelRegistry(nats: Nats): LaterTable<ModelRegistry> {
  return new LaterTable(bucketOf(ModelRegistrySchema).name, () =>
    openTable(nats, ModelRegistrySchema, { usesReserve: false }),
  );
}

function reserveInUse(): Failure {
  const message = storeIsFull("its reserve is kept for runs that have started");
  return new Failure("exhausted", ErrorReason.STORAGE_FULL, message);
}

/** Merges the model catalogs of all runtimes into one. */
function mergeModels(catalogs: readonly ModelCatalog[]): ModelCatalog {
  const maxima = catalogs.find((catalog) => catalog.maxima !== undefined)?.maxima;
  const storedProviders = catalogs.find((each) => each.storedProviders)?.storedProviders;
  return create(ModelCatalogSchema, {
    models: catalogs.flatMap(({ models }) => models),
    providers: catalogs.flatMap(({ providers }) => providers),
    skills: catalogs.flatMap(({ skills }) => skills),
    plugins: catalogs.flatMap(({ plugins }) => plugins),
    nodeRegistry: catalogs.some(({ nodeRegistry }) => nodeRegistry),
    ...(maxima && { maxima }),
    ...(storedProviders && { storedProviders }),
  });
}

/** Whether an offer is valid now. */
function isOffered(offer: PackedOffer): boolean {
  return isValid(offer, systemClock.now());
}
