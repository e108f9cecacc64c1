import { setTimeout as wait } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Tool as McpTool } from "@modelcontextprotocol/sdk/types.js";
import type { Logger } from "@reeve/platform/logger";
import type { McpServerConfig } from "./mcp-config.ts";

const firstDelayMs = 500;
const longestDelayMs = 30_000;
const connectMs = 15_000;

/** A connection to an MCP server that is made again whenever it breaks. */
export class McpConnection implements AsyncDisposable {
  readonly name: string;
  readonly #config: McpServerConfig;
  readonly #log: Logger;
  readonly #end = new AbortController();
  readonly #onTools: (tools: readonly McpTool[]) => void;
  #client: Client | undefined;
  #living: Promise<void> = Promise.resolve();

  constructor(
    name: string,
    config: McpServerConfig,
    log: Logger,
    onTools: (tools: readonly McpTool[]) => void,
  ) {
    this.name = name;
    this.#config = config;
    this.#log = log.child({ mcpServer: name });
    this.#onTools = onTools;
  }

  /** Resolves when the server has listed its tools, or could not be reached at the first try; goes on in either case. */
  async start(): Promise<void> {
    const { promise: tried, resolve } = Promise.withResolvers<void>();
    this.#living = this.#live(resolve);
    await tried;
  }

  /** The connection as it is; undefined while there is none. */
  get client(): Client | undefined {
    return this.#client;
  }

  async #live(tried: () => void): Promise<void> {
    for (let delayMs = firstDelayMs; !this.#end.signal.aborted;) {
      try {
        const { closed } = await this.#connect();
        delayMs = firstDelayMs;
        tried();
        await closed;
        this.#log.warn("MCP server is gone; starting it again");
      } catch (error) {
        tried();
        if (this.#end.signal.aborted) return;
        this.#log.warn({ err: error }, "MCP server cannot be reached; trying again");
      }
      this.#client = undefined;
      await wait(delayMs, undefined, { signal: this.#end.signal }).catch(() => undefined);
      delayMs = Math.min(delayMs * 2, longestDelayMs);
    }
  }

  /** Connects, lists the tools, and gives a promise of the end. */
  async #connect(): Promise<{ readonly closed: Promise<void> }> {
    const { command, args, env } = this.#config;
    const path = process.env["PATH"] ?? "/usr/bin:/bin";
    const transport = new StdioClientTransport({
      command,
      args,
      env: { PATH: path, ...env },
      stderr: "pipe",
    });
    transport.stderr?.on("data", (lines: Buffer) =>
      this.#log.debug({ lines: lines.toString() }, "MCP server says"),
    );
    const client = new Client({ name: "reeve", version: "0.1.0" });
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    // The SDK has no listeners.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    client.onclose = resolve;
    await client.connect(transport, { timeout: connectMs });
    oneAtATime(transport);
    const tools: McpTool[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor }, {
        timeout: connectMs,
      });
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    this.#client = client;
    this.#onTools(tools);
    return { closed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#client?.close().catch(() => undefined);
    await this.#living;
  }
}

/**
 * Hands each message to the client in a turn of its own. The SDK forgets whom progress is for at the moment in which it
 * reads the answer, and would drop a report that came right before it.
 */
function oneAtATime(transport: StdioClientTransport): void {
  const { onmessage } = transport;
  if (onmessage === undefined) return;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  transport.onmessage = (message) => {
    setImmediate(() => onmessage(message));
  };
}
