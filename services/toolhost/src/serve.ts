import { randomBytes } from "node:crypto";
import { HostToolbox, catalogOf } from "@reeve/calls/execute/host-toolbox";
import type { CallPorts } from "@reeve/calls/ports/call-ports";
import { adoptCalls } from "@reeve/calls/queue/adopt-calls";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { LocalCalls } from "@reeve/calls/queue/local-calls";
import { Slots } from "@reeve/calls/queue/slots";
import { workCalls } from "@reeve/calls/queue/work-calls";
import { openCallJournal } from "@reeve/jetstream/log/open";
import { openArtifactStore } from "@reeve/jetstream/objects/nats-artifact-store";
import { openToolCallQueue } from "@reeve/jetstream/queue/nats";
import { watchReserve } from "@reeve/jetstream/reserve/watch-reserve";
import { QueueHolder } from "@reeve/jetstream/queue/queue-holder";
import { extendIntervalMs } from "@reeve/jetstream/queue/port";
import { abortable } from "@reeve/platform/async/abortable";
import { abortLater } from "@reeve/platform/async/abort-later";
import { steadyClock, systemClock } from "@reeve/platform/async/clock";
import { Background } from "@reeve/platform/async/background";
import { onAbort } from "@reeve/platform/async/on-abort";
import type { Environment } from "@reeve/platform/config";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { isRunOver } from "@reeve/run/commands/is-run-over";
import { openSealing } from "@reeve/jetstream/sealing/open-sealing";
import { askedLiveness } from "@reeve/run/liveness/asked-liveness";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { Lookups, resolveHost } from "@reeve/sandbox/network/lookups";
import { sweepSessions } from "@reeve/sandbox/lifecycle/sweep-sessions";
import type { ToolhostConfig } from "./config.ts";
import { Announcer } from "./pool/announcer.ts";
import type { Pool } from "./pool/join-pool.ts";
import { joinPool } from "./pool/join-pool.ts";
import { exposePoolMetrics } from "./pool/pool-metrics.ts";
import { sweepCatalogs } from "./pool/sweep-catalogs.ts";
import { readFiles } from "./read-files.ts";
import { inspectFiles } from "./tools/builtin/inspect-files.ts";
import { builtinTools } from "./tools/builtin.ts";
import type { TriedSource } from "./tools/external-tools.ts";
import { ExternalTools } from "./tools/external-tools.ts";
import { redactedTools } from "./tools/redacted-tool.ts";
import { openBrowser } from "./tools/browser/open-browser.ts";
import { requestedTool } from "./tools/web/requested-tool.ts";
import { webTools } from "./tools/web/web-tools.ts";
import type { Sandboxes } from "./workspaces/sandbox/open-sandboxes.ts";
import { openSandboxes } from "./workspaces/sandbox/open-sandboxes.ts";
import type { HostWorkspaces } from "./workspaces/open-workspaces.ts";
import { openWorkspaces } from "./workspaces/open-workspaces.ts";

/** How long the store may take for one artifact of a result. */
const storeTimeoutMs = 30_000;
/** Interval between sweeps for sandboxes left by dead toolhosts. */
const sweepMs = 60_000;

export interface ToolhostResources {
  readonly nats: Nats;
  readonly log: Logger;
  /** The variables that the configuration files may refer to. */
  readonly environment: Environment;
}

/** A toolhost that takes calls. Disposing it lets running calls finish for a while and gives back the rest. */
export interface RunningToolhost extends AsyncDisposable {
  /** The MCP servers and tool providers, each when it was tried once. None of these promises rejects. */
  readonly sources: readonly Promise<TriedSource>[];
  /** Resolves when each source was tried once, and the tools of those that answered are offered. */
  readonly offersAll: Promise<void>;
  /** The way of calls from a runtime in this process. Undefined: they take that of the queue. */
  readonly localCalls: LocalCalls | undefined;
}

/**
 * Executes tool calls until it is disposed. Resolves when it offers its built-in tools; the sources of other tools may be slow
 * to answer.
 */
export async function startToolhost(
  config: ToolhostConfig,
  { nats, log, environment }: ToolhostResources,
  signal: AbortSignal,
): Promise<RunningToolhost> {
  await using starting = new AsyncDisposableStack();
  const { secrets, credentials, sources } = await readFiles(config, environment);
  // The run of a call has a data key, which another service created. So a toolhost can change none.
  await openSealing(nats, config, { mayCreate: false, log });
  const taking = new AbortController();
  const maxArtifactBytes = config.REEVE_MAX_ARTIFACT_BYTES;
  const artifacts = await openArtifactStore(nats, { maxBytes: maxArtifactBytes });
  const lookups = new Lookups(resolveHost);
  const sandboxes = starting.use(
    await openSandboxes(config, { credentials, lookups, log }, signal),
  );
  const { REEVE_POOL: name, REEVE_ACK_WAIT_MS: ackWaitMs } = config;
  const host = `toolhost-${randomBytes(6).toString("hex")}`;
  const slots = new Slots(config.REEVE_TOOLHOST_CONCURRENCY);
  const holder = starting.use(await QueueHolder.open(nats, { name: host, log }, signal));
  const timeouts = { ackWaitMs, isConsumer: true, holder };
  const requests = await openToolCallQueue(nats, { pool: name, ...timeouts });
  const opened: { workspaces?: HostWorkspaces } = {};
  const reported = () => {
    const { warm = 0, spare = 0 } = sandboxes.waiting?.() ?? {};
    return {
      isolation: sandboxes.isolation,
      warmSandboxes: warm,
      spareSandboxes: spare,
      workspaces: opened.workspaces?.count ?? 0,
    };
  };
  const membership = { pool: name, host, slots, reported, timeouts, requests, nats, log };
  const pool = starting.use(await joinPool(membership, signal));
  starting.use(exposePoolMetrics({ pool: name, slots, nats, log }));
  const workspaces = starting.use(
    await openWorkspaces(sandboxes, { config, nats, artifacts, host, log }, signal),
  );
  opened.workspaces = workspaces;
  const identity = sandboxIdentity(config.REEVE_SANDBOX_UID);
  const onTools = () => announcer.changed();
  const external = starting.use(new ExternalTools({ log, identity, secrets, onTools }));
  const builtin = sandboxes.driver
    ? builtinTools({
        artifacts,
        maxArtifactBytes,
        maxReadBytes: config.REEVE_READ_MAX_BYTES,
        maxGrepBytes: config.REEVE_GREP_MAX_BYTES,
        codeRefusal: sandboxes.codeRefusal,
      })
    : [];
  const liveness = askedLiveness(nats);
  const overOf: CallPorts["isRunOver"] = (run, until) => isRunOver(liveness, run, until);
  const { driver } = sandboxes;
  const browser = starting.use(
    await openBrowser(config, { driver, isRunOver: overOf, log }, signal),
  );
  const web = [...webTools(config, { credentials, lookups, log }), ...browser.tools];
  const ofNetwork = web.map((each) => requestedTool(each));
  const toolbox = new HostToolbox(
    redactedTools([...builtin, ...ofNetwork], processRedaction),
    [() => redactedTools(external.tools, processRedaction)],
    redactedTools([inspectFiles], processRedaction),
  );
  const { isolation, features } = sandboxes;
  const announced = { pool: name, host, isolation, ...(features && { sandbox: features }) };
  const catalog = () =>
    catalogOf(toolbox, announced, (tool) =>
      log.warn({ tool }, "tool was not announced: its descriptor, or the catalog, is too large"),
    );
  const announcing = AbortSignal.any([signal, taking.signal]);
  const announcer = new Announcer(pool.catalogs, catalog, log, announcing);
  const tried = (await external.connect(sources)).map((source) => source.tried);
  const allTried = Promise.all(tried);
  const isLocal = config.REEVE_TOOL_CALL_PATH === "process";
  const maxLocal = config.REEVE_TOOLHOST_LOCAL_CONCURRENCY;
  const externalSlots = maxLocal > 0 && { slots: new Semaphore(maxLocal), toolbox };
  const localCalls = isLocal
    ? new LocalCalls({ pool: name, log, ...(externalSlots && { external: externalSlots }) })
    : undefined;
  const ports: Work["ports"] = {
    journal: await openCallJournal(nats),
    isRunOver: overOf,
    requests,
    ...(localCalls && { local: localCalls }),
    routing: pool.routing,
    executions: pool.executions,
    // The other slots stay free for calls that work.
    asking: new Semaphore(Math.max(1, Math.floor(config.REEVE_TOOLHOST_CONCURRENCY / 2))),
    toolbox,
    workspaces,
    artifacts,
    storeTimeoutMs,
    host,
    heartbeatMs: extendIntervalMs(ackWaitMs),
    clock: steadyClock,
    wallClock: systemClock,
    log,
  };
  await announcer.announce();
  const running = abortLater(config.REEVE_DRAIN_MS, taking.signal);
  const work = { nats, ports, slots, requests, pool, sandboxes, announcer, running, allTried };
  starting.use(startWork(work, signal));
  starting.defer(() => taking.abort(new DOMException("the toolhost ends", "AbortError")));
  const offerAll = async (): Promise<void> => {
    await abortable(allTried, announcing);
    await announcer.announce();
    log.info({ host, pool: name, tools: toolbox.list().length, isolation }, "toolhost started");
  };
  const offersAll = offerAll();
  // A caller need not wait for it.
  offersAll.catch(() => undefined);
  const resources = starting.move();
  return {
    sources: tried,
    offersAll,
    localCalls,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

interface Work {
  readonly nats: Nats;
  readonly ports: CallPorts & Pick<Pool, "routing">;
  readonly slots: Slots;
  readonly requests: Parameters<typeof workCalls>[0];
  readonly pool: Pool;
  readonly sandboxes: Sandboxes;
  readonly announcer: Announcer;
  /** Aborts when running calls must end. */
  readonly running: AbortSignal;
  /** Resolves when each source of tools was tried once. */
  readonly allTried: Promise<unknown>;
}

/** Starts what a toolhost does in the background. Disposing stops taking calls and waits until none is running. */
function startWork(work: Work, signal: AbortSignal): AsyncDisposable {
  const { nats, ports, slots, requests, pool, sandboxes, announcer, running, allTried } = work;
  const { log, host } = ports;
  const background = new Background(log, signal);
  onAbort(background.signal, () => void pool.presence.drain());
  background.run((until) => watchReserve(nats, { log }, until));
  background.run((taking) => workCalls(requests, ports, slots, { taking, running }));
  const { routing, catalogs, hostLeft } = pool;
  background.run((taking) => adoptCalls({ ports, slots, hostLeft }, { taking, running }));
  const announce = () => announcer.changed();
  const sweep = { pool: routing.pool, host, table: catalogs, peers: routing.peers, announce };
  // The catalog of a host that is gone may be the only one with the tools of a source that this host has not reached yet.
  background.run(async (until) => {
    await abortable(allTried, until);
    await sweepCatalogs(sweep, until);
  });
  const { driver } = sandboxes;
  if (driver !== undefined) background.run((until) => sweepSessions(driver, sweepMs, log, until));
  return background;
}
