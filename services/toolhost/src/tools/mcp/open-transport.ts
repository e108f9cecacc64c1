import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Transport } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Identity } from "@reeve/sandbox/host/identity";
import { guardedFetch } from "./guarded-fetch.ts";
import type { HttpServerConfig, McpServerConfig, StdioServerConfig } from "./mcp-config.ts";
import { sandboxedCommand } from "./sandboxed-command.ts";

/** Bytes of one message of a server. */
const maxBytes = 10 * 2 ** 20;
/** Characters of what a program last said of itself. */
const maxSaid = 2_000;

/** The way to a server, for one connection. */
export interface ServerTransport extends AsyncDisposable {
  readonly transport: Transport;
  /** Whether a lost server shows by itself; over HTTP nobody hears of it. */
  readonly endsWithServer: boolean;
  /** What the program said on its standard error, last; empty for a server that is no program of ours. */
  said(): string;
}

/** Makes the way to a server; nothing is started or sent yet. Throws a Failure where its sandbox cannot be had. */
export async function openTransport(
  config: McpServerConfig,
  identity: Identity,
  log: Logger,
): Promise<ServerTransport> {
  return "url" in config ? overHttp(config) : await overStdio(config, identity, log);
}

function overHttp({ url, headers, allow_addresses: allowed }: HttpServerConfig): ServerTransport {
  const guarded = guardedFetch(allowed, maxBytes);
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: guarded.fetch,
    requestInit: { headers: { ...headers } },
  });
  return {
    transport,
    endsWithServer: false,
    said: () => "",
    [Symbol.asyncDispose]: () => guarded[Symbol.asyncDispose](),
  };
}

async function overStdio(
  config: StdioServerConfig,
  identity: Identity,
  log: Logger,
): Promise<ServerTransport> {
  await using opening = new AsyncDisposableStack();
  let { command, args }: { command: string; args: readonly string[] } = config;
  if (config.sandbox) {
    const folder = await mkdtemp(join(tmpdir(), "reeve-mcp-"));
    opening.defer(() => rm(folder, { recursive: true, force: true }));
    ({ command, args } = sandboxedCommand(config, identity, join(folder, "filter")));
  }
  const { env } = config;
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env,
    stderr: "pipe",
    maxBufferSize: maxBytes,
  });
  let said = "";
  transport.stderr?.on("data", (lines: Buffer) => {
    said = (said + lines.toString()).slice(-maxSaid);
    log.debug({ lines: lines.toString() }, "MCP server says");
  });
  const resources = opening.move();
  return {
    transport,
    endsWithServer: true,
    said: () => said.trim(),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
