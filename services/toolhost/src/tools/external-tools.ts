import type { Tool } from "@reeve/calls/ports/tool";
import type { Environment } from "@reeve/platform/config";
import { CollectedFailures, collected } from "@reeve/platform/process/collected-failures";
import { invalidConfig } from "@reeve/platform/process/json-config";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Identity } from "@reeve/sandbox/host/identity";
import { usesSecrets } from "../secrets/secret-references.ts";
import type { Secrets } from "../secrets/secrets.ts";
import type { McpServerConfig } from "./mcp/mcp-config.ts";
import { readMcpConfig } from "./mcp/mcp-config.ts";
import type { McpServer } from "./mcp/mcp-server.ts";
import { mcpTools } from "./mcp/mcp-tools.ts";
import { usesTenantSecrets } from "./mcp/tenant-settings.ts";
import type { ProviderConfig } from "./providers/provider-config.ts";
import { readProviderConfig } from "./providers/provider-config.ts";
import type { ToolProvider } from "./providers/tool-provider.ts";

/** The MCP servers and the tool providers of a host, by name. */
export interface ExternalSources {
  readonly servers: ReadonlyMap<string, McpServerConfig>;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
}

/**
 * Reads the configuration files. They may refer to secrets only if there are sources of secrets. Throws a Failure with everything
 * that is wrong with them.
 */
export async function readExternalSources(
  files: { readonly servers: string | undefined; readonly providers: string | undefined },
  environment: Environment,
  secrets: Pick<Secrets, "isConfigured">,
): Promise<ExternalSources> {
  const failures = new CollectedFailures();
  const read = {
    servers: await failures.collect(() => readMcpConfig(files.servers, environment)),
    providers: await failures.collect(() => readProviderConfig(files.providers, environment)),
  };
  failures.assertNone();
  const servers = collected(read.servers);
  const providers = collected(read.providers);
  const users = [
    ...[...servers].filter(([, config]) => usesTenantSecrets(config)),
    ...[...providers].filter(([, { metadata }]) => usesSecrets(metadata)),
  ].map(([name]) => name);
  if (users.length > 0 && !secrets.isConfigured) {
    throw invalidConfig(
      "REEVE_SECRETS_CONFIG",
      `it is not set, but secrets are used by ${users.join(", ")}`,
    );
  }
  return { servers, providers };
}

/** A source of tools, and what became of the first attempt to reach it. */
export interface TriedSource {
  readonly kind: "MCP server" | "tool provider";
  readonly name: string;
  /** The number of its tools. */
  readonly tools: number;
  /** Why it is not connected. It is tried again. Undefined: it is connected. */
  readonly problem: string | undefined;
}

export interface ExternalToolsPorts {
  readonly log: Logger;
  /** The user that runs MCP servers in a sandbox. */
  readonly identity: Identity;
  readonly secrets: Secrets;
  /** Called when the tools of a source have changed. */
  readonly onTools: () => void;
}

/** The tools of MCP servers and tool providers, which stay connected until it is disposed. */
export class ExternalTools implements AsyncDisposable {
  readonly #ports: ExternalToolsPorts;
  readonly #resources = new AsyncDisposableStack();
  readonly #sources: (() => readonly Tool[])[] = [];

  constructor(ports: ExternalToolsPorts) {
    this.#ports = ports;
  }

  /** The tools that the sources offer now. */
  get tools(): readonly Tool[] {
    return this.#sources.flatMap((tools) => tools());
  }

  /**
   * Connects to the sources. Each has its tools as soon as it answers; one that does not is tried again in the background.
   * Returns one promise for each, which resolves when it was tried once. A host without a kind of source does not load what connects to it.
   */
  async connect({
    servers,
    providers,
  }: ExternalSources): Promise<readonly { readonly tried: Promise<TriedSource> }[]> {
    const sources: { readonly tried: Promise<TriedSource> }[] = [];
    if (servers.size > 0) {
      const { McpServer } = await import("./mcp/mcp-server.ts");
      for (const [name, config] of servers) {
        const server = this.#resources.use(new McpServer(name, config, this.#ports));
        this.#sources.push(() => mcpTools(server));
        const tried = server.tried.then(() => resultOf("MCP server", server));
        sources.push({ tried });
      }
    }
    if (providers.size > 0) {
      const { ToolProvider } = await import("./providers/tool-provider.ts");
      for (const [name, config] of providers) {
        const provider = this.#resources.use(new ToolProvider(name, config, this.#ports));
        this.#sources.push(() => provider.tools);
        const tried = provider.tried.then(() => resultOf("tool provider", provider));
        sources.push({ tried });
      }
    }
    return sources;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }
}

function resultOf(
  kind: TriedSource["kind"],
  { name, tools, problem }: McpServer | ToolProvider,
): TriedSource {
  return { kind, name, tools: tools.length, problem };
}
