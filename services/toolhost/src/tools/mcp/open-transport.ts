import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Transport } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import type { Identity } from "@reeve/sandbox/host/identity";
import type { Secrets } from "../../secrets/secrets.ts";
import { withSecrets } from "../../secrets/secret-references.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import type { HttpServerConfig, McpServerConfig, StdioServerConfig } from "./mcp-config.ts";
import type { OAuthSession } from "./oauth/oauth-session.ts";
import { sandboxedCommand } from "./sandboxed-command.ts";
import { serverFetch } from "./server-fetch.ts";

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

export interface TransportPorts {
  readonly log: Logger;
  /** The user that runs servers in a sandbox. */
  readonly identity: Identity;
  readonly secrets: Secrets;
}

/**
 * Prepares the transport to a server, with the secrets of `tenant`. Nothing is started or sent yet. Throws a Failure when its
 * sandbox or a secret is unavailable.
 */
export async function openTransport(
  config: McpServerConfig,
  tenant: string,
  ports: TransportPorts & { readonly oauth: OAuthSession | undefined },
  signal: AbortSignal,
): Promise<ServerTransport> {
  if ("url" in config) return overHttp(config, tenant, ports);
  const env = await withSecrets(config.env, tenant, ports.secrets, signal);
  return await overStdio({ ...config, env }, ports);
}

function overHttp(
  config: HttpServerConfig,
  tenant: string,
  { secrets, oauth }: TransportPorts & { readonly oauth: OAuthSession | undefined },
): ServerTransport {
  const guarded = guardedFetch({
    allowed: config.allow_addresses,
    origins: [config.url, ...(config.oauth ? [config.oauth.issuer] : [])].map(
      (url) => new URL(url).origin,
    ),
    maxBytes: maxMessageBytes,
  });
  const transport = new StreamableHTTPClientTransport(new URL(config.url), {
    fetch: serverFetch(guarded.fetch, config, tenant, secrets),
    ...(oauth && { authProvider: oauth }),
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
  { identity, log }: TransportPorts,
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
  const decoder = new TextDecoder();
  const redacted = processRedaction.stream();
  const keep = (lines: string) => {
    output = (output + lines).slice(-maxOutputLength);
    if (lines !== "") log.debug({ lines }, "output of an MCP server");
  };
  transport.stderr?.on("data", (bytes: Buffer) =>
    keep(redacted.push(decoder.decode(bytes, { stream: true }))),
  );
  transport.stderr?.once("end", () => keep(redacted.end()));
  const resources = opening.move();
  return {
    transport,
    notifiesOfLoss: true,
    lastOutput: () => output.trim(),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
