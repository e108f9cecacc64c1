import { randomBytes } from "node:crypto";
import { openCallJournal } from "@reeve/jetstream/log/open";
import { openToolCallQueue } from "@reeve/jetstream/queue/nats";
import { extendIntervalMs } from "@reeve/jetstream/queue/port";
import type { Environment } from "@reeve/platform/config";
import { Background } from "@reeve/platform/async/background";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { openArtifactStore } from "@reeve/jetstream/objects/nats-artifact-store";
import { Announcer } from "./pool/announcer.ts";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import type { ToolSource } from "@reeve/calls/execute/host-toolbox";
import { HostToolbox, catalogOf } from "@reeve/calls/execute/host-toolbox";
import { openSandboxes } from "./open-sandboxes.ts";
import { openWorkspaces } from "./workspaces/open-workspaces.ts";
import { readMcpConfig } from "./tools/mcp/mcp-config.ts";
import { McpServer } from "./tools/mcp/mcp-server.ts";
import { mcpTools } from "./tools/mcp/mcp-tools.ts";
import { readProviderConfig } from "./tools/providers/provider-config.ts";
import { ToolProvider } from "./tools/providers/tool-provider.ts";
import { joinPool } from "./pool/join-pool.ts";
import { exposePoolMetrics } from "./pool/pool-metrics.ts";
import { sweepCatalogs } from "./pool/sweep-catalogs.ts";
import { adoptCalls } from "@reeve/calls/queue/adopt-calls";
import { sweepSessions } from "@reeve/sandbox/lifecycle/sweep-sessions";
import { Slots } from "@reeve/calls/queue/slots";
import { workCalls } from "@reeve/calls/queue/work-calls";
import type { ToolhostConfig } from "./config.ts";

/** How long a large result may take on its way into the store. */
const storeTimeoutMs = 30_000;
/** How often is looked for what lost toolhosts have left. */
const reapMs = 60_000;

export interface ToolhostResources {
  readonly nats: Nats;
  readonly log: Logger;
  /** The variables that the configuration files may name. */
  readonly environment: Environment;
}

/** Executes tool calls until it is disposed, which lets running calls finish for a while and gives back the rest. */
export async function startToolhost(
  config: ToolhostConfig,
  { nats, log, environment }: ToolhostResources,
  signal: AbortSignal,
): Promise<AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const taking = new AbortController();
  const running = new AbortController();
  const servers = await readMcpConfig(config.REEVE_MCP_CONFIG, environment);
  const providers = await readProviderConfig(config.REEVE_PROVIDERS_CONFIG, environment);
  const artifacts = await openArtifactStore(nats, { maxBytes: config.REEVE_MAX_ARTIFACT_BYTES });
  const sandboxes = starting.use(await openSandboxes({ config, artifacts, log }, signal));
  const pool = config.REEVE_POOL;
  const host = `toolhost-${randomBytes(6).toString("hex")}`;
  const ackWaitMs = config.REEVE_ACK_WAIT_MS;
  const slots = new Slots(config.REEVE_TOOLHOST_CONCURRENCY);
  const requests = await openToolCallQueue(nats, { pool, ackWaitMs, isConsumer: true });
  const options = { pool, host, slots, ackWaitMs, requests, nats, log };
  const { routing, presence, catalogs, hostLeft } = starting.use(await joinPool(options, signal));
  starting.use(exposePoolMetrics({ pool, slots, nats, log }));
  const workspaces = starting.use(
    await openWorkspaces(sandboxes, { config, nats, artifacts, host, log }, signal),
  );
  const sources: ToolSource[] = [];
  const toolbox = new HostToolbox(sandboxes.tools, sources);
  const catalog = () =>
    catalogOf(toolbox, { pool, host, isolation: sandboxes.isolation }, (tool) =>
      log.warn({ tool }, "too much is said of a tool; it is not announced"),
    );
  const announcer = new Announcer(catalogs, catalog, log, AbortSignal.any([signal, taking.signal]));
  const identity = sandboxIdentity(config.REEVE_SANDBOX_UID);
  const onTools = () => announcer.changed();
  const tried: Promise<void>[] = [];
  for (const [name, server] of servers) {
    const connected = starting.use(new McpServer(name, server, { log, identity, onTools }));
    sources.push(() => mcpTools(connected));
    tried.push(connected.tried);
  }
  for (const [name, provider] of providers) {
    const asked = starting.use(new ToolProvider(name, provider, { log, onTools }));
    sources.push(() => asked.tools);
    tried.push(asked.tried);
  }
  await Promise.all(tried);
  const ports = {
    journal: await openCallJournal(nats),
    requests,
    routing,
    toolbox,
    workspaces,
    artifacts,
    storeTimeoutMs,
    host,
    heartbeatMs: extendIntervalMs(ackWaitMs),
    log,
  };
  await announcer.announce();
  const background = starting.use(new Background(log, signal));
  background.signal.addEventListener("abort", () => void presence.drain(), { once: true });
  const onTaking = (until: AbortSignal) => ({ taking: until, running: running.signal });
  background.run((until) => workCalls(requests, ports, slots, onTaking(until)));
  background.run((until) => adoptCalls({ ports, slots, hostLeft }, onTaking(until)));
  const announce = () => announcer.changed();
  const tidied = { pool, host, table: catalogs, peers: routing.peers, announce };
  background.run((until) => sweepCatalogs(tidied, until));
  const { driver } = sandboxes;
  if (driver !== undefined) {
    background.run((until) => sweepSessions(driver, reapMs, log, until));
  }
  starting.defer(() => {
    taking.abort(new DOMException("the toolhost goes away", "AbortError"));
    setTimeout(() => running.abort(taking.signal.reason), config.REEVE_DRAIN_MS).unref();
  });
  log.info(
    { host, pool, tools: toolbox.list().length, isolation: sandboxes.isolation },
    "toolhost works",
  );
  return starting.move();
}
