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
const maxMessageBytes = 10 * 2 ** 20;
/** How many characters of the last standard error of a program are kept. */
const maxOutputLength = 2_000;

/** The transport of one connection to a server. */
export interface ServerTransport extends AsyncDisposable {
  readonly transport: Transport;
  /** Whether the transport closes when the server is lost. Over HTTP it does not. */
  readonly notifiesOfLoss: boolean;
  /** Returns the last standard error of the program. Empty for a server that is reached over HTTP. */
  lastOutput(): string;
}

/** Prepares the transport to a server. Nothing is started or sent yet. Throws a Failure when its sandbox is unavailable. */
export async function openTransport(
  config: McpServerConfig,
  identity: Identity,
  log: Logger,
): Promise<ServerTransport> {
  return "url" in config ? overHttp(config) : await overStdio(config, identity, log);
}

function overHttp({ url, headers, allow_addresses: allowed }: HttpServerConfig): ServerTransport {
  const guarded = guardedFetch(allowed, maxMessageBytes);
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: guarded.fetch,
    requestInit: { headers: { ...headers } },
  });
  return {
    transport,
    notifiesOfLoss: false,
    lastOutput: () => "",
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
    maxBufferSize: maxMessageBytes,
  });
  let output = "";
  transport.stderr?.on("data", (lines: Buffer) => {
    output = (output + lines.toString()).slice(-maxOutputLength);
    log.debug({ lines: lines.toString() }, "output of an MCP server");
  });
  const resources = opening.move();
  return {
    transport,
    notifiesOfLoss: true,
    lastOutput: () => output.trim(),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
