import { mergeCatalogs } from "@reeve/agent/tools/merge-catalogs";
import { rememberLast } from "@reeve/platform/remember-last";
import { remoteProvider } from "@reeve/agent/resolve/remote-endpoint";
import type { ModelCatalog } from "@reeve/contracts/agent";
import { CollectionRecordSchema } from "@reeve/contracts/extensions/knowledge";
import { MemorySchema } from "@reeve/contracts/memory";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import type { CallQueue, RunPorts } from "@reeve/engine/ports/run-ports";
import { maxFileBytes } from "@reeve/engine/ports/media-generator";
import type { SkillSource } from "@reeve/engine/ports/skill-source";
import { openCallJournal, openRunLog, openThreadLog } from "@reeve/jetstream/log/open";
import { withAppendObserver } from "@reeve/jetstream/log/with-append-observer";
import { collectionTextBucket } from "@reeve/jetstream/objects/collection-store";
import { openObjects } from "@reeve/jetstream/objects/nats";
import { openArtifactStore } from "@reeve/jetstream/objects/nats-artifact-store";
import { openDispatchQueue } from "@reeve/jetstream/queue/dispatch";
import { openToolCallQueue } from "@reeve/jetstream/queue/nats";
import type { QueueHolder } from "@reeve/jetstream/queue/queue-holder";
import { extendIntervalMs } from "@reeve/jetstream/queue/port";
import { openLiveView } from "@reeve/jetstream/table/live-view";
import { openTable } from "@reeve/jetstream/table/nats";
import { Collections } from "@reeve/knowledge/collections";
import type { Embedder } from "@reeve/knowledge/vectors/embedder";
import { LongTermMemory } from "@reeve/memory/long-term-memory";
import { circuitProvider } from "@reeve/models/registry/circuit-provider";
import { meteredProvider } from "@reeve/models/registry/metered-provider";
import type { Providers } from "@reeve/models/registry/provider-registry";
import { tracedProvider } from "@reeve/models/registry/traced-provider";
import { ByteBudget } from "@reeve/platform/async/coordination/byte-budget";
import type { StandstillMeter } from "@reeve/platform/async/standstill-meter";
import { steadyClock, systemClock } from "@reeve/platform/async/clock";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { askedExistence } from "@reeve/run/existence/asked-existence";
import { confirmedEnds } from "@reeve/run/existence/confirmed-ends";
import type { RuntimeConfig } from "./config.ts";
import type { RuntimePorts } from "./executors/port.ts";
import { recordApprovalRequests } from "./metrics/approval-events.ts";
import { reportActiveRuns, runMetrics } from "./metrics/run-metrics.ts";
import type { ModelActivity } from "./presence/model-activity.ts";
import type { StoredModels } from "./stored-models.ts";
import { withStoredSkills } from "./stored-skills.ts";

/** A claim costs about as much as holding a run for some seconds; most rate limits pass in less. */
const maxHeldWaitMs = 5_000;

/** The way of calls to a toolhost in this process. */
export interface LocalCalls {
  /** Returns the queue of a pool, some of whose requests take that way. */
  queueFor(pool: string, queue: CallQueue): CallQueue;
}

interface PortDependencies {
  readonly nats: Nats;
  readonly holder: QueueHolder;
  /** The name of this worker, under which it holds messages. */
  readonly worker: string;
  readonly standstill: StandstillMeter;
  readonly providers: Pick<Providers, "byName" | "stored">;
  /** The models and providers that are stored through the API. */
  readonly storedModels: StoredModels;
  readonly plugins: NonNullable<RunPorts["plugins"]>;
  readonly remoteAgents: RunPorts["remoteAgents"];
  /** Counts the calls of models, for operators. */
  readonly activity: Pick<ModelActivity, "count">;
  /** Returns the models, providers, skills, and plugins of now. */
  readonly catalog: () => ModelCatalog;
  readonly skills: SkillSource;
  readonly policy: RunPorts["policy"];
  readonly localCalls: LocalCalls | undefined;
  /** Undefined: only the words of documents are searched. */
  readonly embedder: Embedder | undefined;
  readonly logger: Logger;
}

/** Opens the ports of a runtime on NATS. Their live view follows NATS until `signal` aborts. */
export async function openPorts(
  { REEVE_ACK_WAIT_MS: ackWaitMs, REEVE_RUNTIME_FILE_MEMORY_BYTES: fileBytes }: RuntimeConfig,
  {
    nats,
    holder,
    worker,
    standstill,
    providers,
    storedModels,
    plugins,
    remoteAgents,
    activity,
    catalog,
    skills,
    policy,
    localCalls,
    embedder,
    logger,
  }: PortDependencies,
  signal: AbortSignal,
): Promise<RuntimePorts> {
  const hosts = await openLiveView(await openTable(nats, ToolCatalogSchema), logger, signal);
  const tools = rememberLast(hosts, mergeCatalogs);
  const catalogs = () => ({ tools: tools(), models: catalog() });
  const count = runMetrics(catalogs);
  const byName = new Map(
    [...providers.byName].map(([name, provider]) => [name, observedProvider(provider, activity)]),
  );
  const storedProvider = (name: string) =>
    storedModels.provider(name, (spec) =>
      observedProvider(providers.stored.provider(spec), activity),
    );
  const runLog = await openRunLog(nats);
  // A runtime stores only the media that it generates, and the skills that its runs use.
  const artifacts = await openArtifactStore(nats, { maxBytes: maxFileBytes });
  return {
    // Asked once: who asks this runtime waits for four seconds, and asks again.
    logEnds: confirmedEnds(runLog, askedExistence(nats, { maxRetryMs: 0 })),
    log: withAppendObserver(runLog, (events) => {
      count(events);
      recordApprovalRequests(events);
    }),
    journal: await openCallJournal(nats),
    toolCalls: toolCallQueues(nats, ackWaitMs, localCalls),
    catalogs,
    policy,
    skills: withStoredSkills(skills, artifacts, systemClock.now),
    // A provider of the file wins: nothing that is stored replaces it.
    provider: (name) => byName.get(name) ?? storedProvider(name),
    refreshModels: (until) => storedModels.refresh(until),
    plugins,
    remoteAgents,
    reportActiveRuns,
    artifacts,
    fileMemory: new ByteBudget(fileBytes),
    memory: new LongTermMemory(await openTable(nats, MemorySchema), systemClock.now),
    // A runtime only reads collections.
    knowledge: new Collections(
      {
        table: await openTable(nats, CollectionRecordSchema),
        objects: await openObjects(nats, { bucket: collectionTextBucket, maxBytes: 0 }),
      },
      embedder,
    ),
    threads: await openThreadLog(nats),
    dispatch: await openDispatchQueue(nats, { ackWaitMs, isConsumer: true, holder }),
    holder,
    ownerFate: (owner, until) => holder.fateOf(owner, until),
    clock: systemClock,
    steadyClock,
    standstillMs: () => standstill.totalMs,
    worker,
    heartbeatMs: extendIntervalMs(ackWaitMs),
    maxHeldWaitMs,
    logger,
  };
}

/** A script is never down: it fails where it says so. */
function observedProvider(
  provider: ModelProvider,
  activity: PortDependencies["activity"],
): ModelProvider {
  const observed = tracedProvider(meteredProvider(provider, (call) => activity.count(call)));
  // One agent elsewhere that does not answer says nothing about the others.
  const { name, scripted } = provider.descriptor;
  return scripted || name === remoteProvider ? observed : circuitProvider(observed, steadyClock);
}

/** Returns a function that opens the queue of a pool of toolhosts on first use. */
function toolCallQueues(
  nats: Nats,
  ackWaitMs: number,
  localCalls: LocalCalls | undefined,
): RunPorts["toolCalls"] {
  const queues = new Map<string, Promise<CallQueue>>();
  const open = async (pool: string) => {
    const queue = await openToolCallQueue(nats, { pool, ackWaitMs });
    return localCalls?.queueFor(pool, queue) ?? queue;
  };
  return async (pool) => {
    const known = queues.get(pool);
    if (known !== undefined) return await known;
    const opening = open(pool);
    queues.set(pool, opening);
    // If opening fails, the next call tries again.
    opening.catch(() => queues.delete(pool));
    return await opening;
  };
}
