import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { create } from "@bufbuild/protobuf";
import { ToolCatalogSchema, ToolDescriptorSchema } from "@reeve/contracts/tool";
import { openCallJournal } from "@reeve/log/nats-journal";
import { openToolCallQueue } from "@reeve/log/nats-queue";
import { Background } from "@reeve/platform/background";
import type { Logger } from "@reeve/platform/logger";
import type { Nats } from "@reeve/platform/nats";
import { openArtifactStore } from "@reeve/store/nats-artifact-store";
import { openTable } from "@reeve/store/nats-table";
import { probeBubblewrap } from "./adapters/bubblewrap/probe-bubblewrap.ts";
import { readMcpConfig } from "./adapters/mcp/mcp-config.ts";
import { McpConnection } from "./adapters/mcp/mcp-connection.ts";
import { mcpTool } from "./adapters/mcp/mcp-tool.ts";
import { openWorkspaces } from "./adapters/workspaces.ts";
import type { HostPorts } from "./app/host-ports.ts";
import type { Tool } from "./app/tool.ts";
import { executeCode } from "./app/tools/execute-code.ts";
import { fileTools } from "./app/tools/file-tools.ts";
import { runCommand } from "./app/tools/run-command.ts";
import { workCalls } from "./app/work-calls.ts";
import type { ToolhostConfig } from "./config.ts";
import type { Probe } from "./ports/sandbox.ts";

/** How long a host may be silent before its calls go to another. */
const ackWaitMs = 1_000;
/** How long calls under way may take to end when the host goes away. */
const drainMs = 10_000;

/** Executes tool calls of its pool until it is disposed, which lets calls under way finish for a while. */
export async function startToolhost(
  config: ToolhostConfig,
  { nats, log: logger }: { readonly nats: Nats; readonly log: Logger },
  signal: AbortSignal,
): Promise<AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const artifacts = await openArtifactStore(nats, { maxBytes: config.REEVE_MAX_ARTIFACT_BYTES });
  const uid = config.REEVE_SANDBOX_UID;
  const user = process.getuid?.() === 0 ? { uid, gid: uid } : undefined;
  const workspaces = await openWorkspaces(config.REEVE_DATA_DIR, user, artifacts);
  const probe = await probeBubblewrap(workspaces.root, user, signal);
  const tools = new Map<string, Tool>();
  const offered = probe.kind === "isolates" ? builtinTools(artifacts) : [];
  for (const tool of offered) tools.set(tool.descriptor.name, tool);
  if (probe.kind === "unusable") {
    logger.warn({ why: probe.why, fix: probe.fix }, "no sandbox works here; nothing is executed");
  }
  const catalogs = await openTable(nats, ToolCatalogSchema);
  const announce = () => catalogs.put(config.REEVE_POOL, catalogOf(config, probe, tools), signal);
  const connections = mcpConnections(config, logger, (server, listed) => {
    for (const name of tools.keys()) if (name.startsWith(`mcp__${server}__`)) tools.delete(name);
    for (const tool of listed) tools.set(tool.descriptor.name, tool);
    announce().catch((error: unknown) => logger.warn({ err: error }, "tools were not announced"));
  });
  for (const connection of connections) starting.use(connection);
  await Promise.all(connections.map((connection) => connection.start()));
  await announce();
  const drain = new AbortController();
  const ports: HostPorts = {
    journal: await openCallJournal(nats),
    tools: () => tools,
    sandbox: async (tenant, workspace, until) => {
      const folder = await workspaces.ready(tenant, workspace, until);
      if (probe.kind === "unusable") throw new Error(`${probe.why}; ${probe.fix}`);
      return probe.driver.open(folder);
    },
    running: new Set(),
    host: `toolhost-${randomBytes(6).toString("hex")}`,
    heartbeatMs: ackWaitMs / 3,
    logger,
  };
  const queue = await openToolCallQueue(nats, { pool: config.REEVE_POOL, ackWaitMs });
  const background = starting.use(new Background(logger, signal));
  background.keep((until) =>
    workCalls(queue, ports, config.REEVE_TOOLHOST_CONCURRENCY, {
      signal: until,
      drain: drain.signal,
    }),
  );
  starting.defer(() => {
    setTimeout(
      () => drain.abort(new DOMException("the toolhost goes away", "AbortError")),
      drainMs,
    ).unref();
  });
  logger.info({ host: ports.host, tools: [...tools.keys()] }, "toolhost works");
  return starting.move();
}

function builtinTools(artifacts: Parameters<typeof fileTools>[1]): readonly Tool[] {
  return [
    executeCode(sandboxScript("run_code.py")),
    runCommand,
    ...fileTools(sandboxScript("files.py"), artifacts),
  ];
}

/** The source of a helper of ours that runs inside sandboxes. */
function sandboxScript(name: string): string {
  return readFileSync(join(import.meta.dirname, "../sandbox", name), "utf8");
}

function mcpConnections(
  { REEVE_MCP_CONFIG: path }: ToolhostConfig,
  logger: Logger,
  onTools: (server: string, tools: readonly Tool[]) => void,
): readonly McpConnection[] {
  const servers = path === undefined ? {} : readMcpConfig(path);
  return Object.entries(servers).map(([name, server]) => {
    const connection: McpConnection = new McpConnection(name, server, logger, (listed) =>
      onTools(
        name,
        listed.map((description) => mcpTool(connection, description)),
      ),
    );
    return connection;
  });
}

function catalogOf(
  { REEVE_POOL: pool }: ToolhostConfig,
  probe: Probe,
  tools: ReadonlyMap<string, Tool>,
) {
  return create(ToolCatalogSchema, {
    pool,
    isolation: probe.kind === "isolates" ? probe.driver.name : "none",
    tools: [...tools.values()].map(({ descriptor }) =>
      create(ToolDescriptorSchema, { ...descriptor, pool }),
    ),
  });
}
