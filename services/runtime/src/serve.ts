import { randomBytes } from "node:crypto";
import { mergeCatalogs } from "@reeve/agent/tools/merge-catalogs";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import { MemorySchema } from "@reeve/contracts/memory";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { openCallJournal, openRunLog, openThreadLog } from "@reeve/jetstream/log/open";
import { openDispatchQueue, openToolCallQueue } from "@reeve/jetstream/queue/nats";
import { withAppendObserver } from "@reeve/jetstream/log/with-append-observer";
import { extendIntervalMs } from "@reeve/jetstream/queue/port";
import { LongTermMemory } from "@reeve/memory/long-term-memory";
import { Background } from "@reeve/platform/async/background";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { openArtifactStore } from "@reeve/jetstream/objects/nats-artifact-store";
import { openLiveView } from "@reeve/jetstream/table/live-view";
import { openTable } from "@reeve/jetstream/table/nats";
import { recordApprovalRequests } from "./metrics/approval-events.ts";
import { meteredProvider } from "@reeve/models/registry/metered-provider";
import { openProviders } from "@reeve/models/registry/provider-registry";
import { tracedProvider } from "@reeve/models/registry/traced-provider";
import { runMetrics, reportActiveRuns } from "./metrics/run-metrics.ts";
import { systemClock } from "@reeve/platform/async/clock";
import { workRuns } from "@reeve/engine/drive/work-runs";
import type { RuntimeConfig } from "./config.ts";
import type { RunPorts } from "@reeve/engine/ports/run-ports";

/** Drives runs until it is disposed, which hands back what is under way. */
export async function startRuntime(
  config: RuntimeConfig,
  { nats, log: logger }: { readonly nats: Nats; readonly log: Logger },
  signal: AbortSignal,
): Promise<AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const background = starting.use(new Background(logger, signal));
  const providers = await openProviders(config, signal);
  const models = await openTable(nats, ModelCatalogSchema);
  await models.put("default", providers.catalog, signal);
  const tools = await openTable(nats, ToolCatalogSchema);
  const hosts = await openLiveView(tools, logger, background.signal);
  const ackWaitMs = config.REEVE_ACK_WAIT_MS;
  const dispatch = await openDispatchQueue(nats, { ackWaitMs, isConsumer: true });
  const catalogs = () => ({ tools: mergeCatalogs(hosts()), models: providers.catalog });
  const count = runMetrics(catalogs);
  const byName = new Map(
    [...providers.byName].map(([name, provider]) => [
      name,
      tracedProvider(meteredProvider(provider)),
    ]),
  );
  const ports: RunPorts = {
    log: withAppendObserver(await openRunLog(nats), (events) => {
      count(events);
      recordApprovalRequests(events);
    }),
    journal: await openCallJournal(nats),
    toolCalls: toolCallQueues(nats, ackWaitMs),
    catalogs,
    provider: (name) => byName.get(name),
    reportActiveRuns,
    // A runtime only reads artifacts.
    artifacts: await openArtifactStore(nats, { maxBytes: 0 }),
    memory: new LongTermMemory(await openTable(nats, MemorySchema), systemClock.now),
    threads: await openThreadLog(nats),
    dispatch,
    clock: systemClock,
    worker: `runtime-${randomBytes(6).toString("hex")}`,
    heartbeatMs: extendIntervalMs(ackWaitMs),
    logger,
  };
  const now = new AbortController();
  background.run((until) =>
    workRuns(dispatch, ports, config.REEVE_RUNTIME_CONCURRENCY, {
      drain: until,
      now: now.signal,
    }),
  );
  const hurry = () => {
    setTimeout(() => now.abort(background.signal.reason), config.REEVE_DRAIN_MS).unref();
  };
  background.signal.addEventListener("abort", hurry, { once: true });
  logger.info({ worker: ports.worker, providers: [...providers.byName.keys()] }, "runtime works");
  return starting.move();
}

/** The queues of the pools of toolhosts, each opened when it is first needed. */
function toolCallQueues(nats: Nats, ackWaitMs: number): RunPorts["toolCalls"] {
  const queues = new Map<string, ReturnType<typeof openToolCallQueue>>();
  return async (pool) => {
    const known = queues.get(pool);
    if (known !== undefined) return await known;
    const opening = openToolCallQueue(nats, { pool, ackWaitMs });
    queues.set(pool, opening);
    // One that could not be opened is tried again by the next call.
    opening.catch(() => queues.delete(pool));
    return await opening;
  };
}
