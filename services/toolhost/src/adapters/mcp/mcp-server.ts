import { setTimeout as wait } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Tool as McpTool } from "@modelcontextprotocol/sdk/types.js";
import { CallToolResultSchema, McpError } from "@modelcontextprotocol/sdk/types.js";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/logger";
import type { CallContext, ToolOutcome } from "../../ports/tool.ts";
import type { McpServerConfig } from "./mcp-config.ts";
import { mcpOutcome } from "./mcp-outcome.ts";

const connectMs = 15_000;
const firstDelayMs = 500;
const longestDelayMs = 30_000;
/** A connection that lasted this long is worth a quick reconnection. */
const stableMs = 60_000;
/** How long a call may be silent, and how long it may last. */
const silenceMs = 120_000;
const mostCallMs = 1_800_000;
const mostPages = 100;

/** A connection to one MCP server, made again with back-off whenever it is lost. */
export class McpServer implements AsyncDisposable {
  readonly name: string;
  readonly #config: McpServerConfig;
  readonly #log: Logger;
  readonly #onTools: () => void;
  readonly #end = new AbortController();
  readonly #first = Promise.withResolvers<void>();
  readonly #living: Promise<void>;
  #client: Client | undefined;
  #tools: readonly McpTool[] = [];

  /** Connects at once. `onTools` is called whenever the server's tools have changed. */
  constructor(name: string, config: McpServerConfig, log: Logger, onTools: () => void) {
    this.name = name;
    this.#config = config;
    this.#log = log;
    this.#onTools = onTools;
    this.#living = this.#live(this.#end.signal);
  }

  /** The tools that the server last listed. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  /** Resolves when the first attempt to connect has succeeded or failed. */
  get tried(): Promise<void> {
    return this.#first.promise;
  }

  async call(name: string, context: CallContext, signal: AbortSignal): Promise<ToolOutcome> {
    const client = this.#client;
    if (client === undefined) throw this.#away();
    const { traceparent } = context;
    try {
      const result = await client.callTool(
        {
          name,
          arguments: context.args,
          ...(traceparent !== "" && { _meta: { traceparent } }),
        },
        CallToolResultSchema,
        {
          signal,
          timeout: silenceMs,
          maxTotalTimeout: mostCallMs,
          resetTimeoutOnProgress: true,
          onprogress: ({ progress, total, message = "" }) =>
            context.report({ progress, message, ...(total !== undefined && { total }) }),
        },
      );
      return mcpOutcome(CallToolResultSchema.parse(result));
    } catch (error) {
      signal.throwIfAborted();
      if (this.#client !== client) throw this.#away(error);
      if (error instanceof McpError) return { content: error.message, isError: true };
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new DOMException("the toolhost goes away", "AbortError"));
    await this.#living;
  }

  async #live(signal: AbortSignal): Promise<void> {
    for (let delayMs = firstDelayMs; !signal.aborted;) {
      const began = performance.now();
      try {
        await this.#connection(signal);
      } catch (error) {
        if (signal.aborted) break;
        this.#log.warn({ err: error, server: this.name, delayMs }, "MCP server does not answer");
      } finally {
        this.#client = undefined;
        this.#first.resolve();
      }
      delayMs =
        performance.now() - began > stableMs ? firstDelayMs : Math.min(delayMs * 2, longestDelayMs);
      await wait(delayMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** One connection, from its start to its loss. */
  async #connection(signal: AbortSignal): Promise<void> {
    const transport = new StdioClientTransport({ ...this.#config, stderr: "pipe" });
    transport.stderr?.on("data", (lines: Buffer) =>
      this.#log.debug({ server: this.name, lines: lines.toString() }, "MCP server says"),
    );
    const client = new Client(
      { name: "reeve", version: "0.1.0" },
      {
        listChanged: {
          tools: {
            autoRefresh: false,
            onChanged: () => void this.#list(client, signal).catch(() => undefined),
          },
        },
      },
    );
    const closed = Promise.withResolvers<void>();
    // A client of this SDK has no addEventListener.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    client.onclose = () => closed.resolve();
    const stop = () => closed.resolve();
    signal.addEventListener("abort", stop, { once: true });
    try {
      await client.connect(transport, { signal, timeout: connectMs });
      deliverApart(transport);
      this.#client = client;
      await this.#list(client, signal);
      this.#log.info({ server: this.name, tools: this.#tools.length }, "MCP server connected");
      this.#first.resolve();
      await closed.promise;
      this.#client = undefined;
      if (!signal.aborted) this.#log.warn({ server: this.name }, "MCP server is gone");
    } finally {
      signal.removeEventListener("abort", stop);
      await client.close();
    }
  }

  async #list(client: Client, signal: AbortSignal): Promise<void> {
    const tools: McpTool[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < mostPages; page++) {
      const listed = await client.listTools(cursor === undefined ? {} : { cursor }, {
        signal,
        timeout: connectMs,
      });
      tools.push(...listed.tools);
      cursor = listed.nextCursor;
      if (cursor === undefined) break;
    }
    this.#tools = tools;
    this.#onTools();
  }

  #away(cause?: unknown): Failure {
    return new Failure(
      "unavailable",
      ErrorReason.UNAVAILABLE,
      `the MCP server ${this.name} is not connected; its outcome, if the call had reached it, is unknown`,
      { cause },
    );
  }
}

/**
 * Delivers each message in a turn of the event loop of its own. The client hears of progress a moment later than of an
 * answer, and drops what belongs to a call that has been answered: progress right before its answer would be lost.
 */
function deliverApart(transport: StdioClientTransport): void {
  const deliver = transport.onmessage;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  transport.onmessage = (message) => {
    setImmediate(() => deliver?.(message));
  };
}
