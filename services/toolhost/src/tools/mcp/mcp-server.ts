import { setTimeout as wait } from "node:timers/promises";
import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { CallContext, CallResult } from "@reeve/calls/ports/tool";
import type { Identity } from "@reeve/sandbox/host/identity";
import { describeProblem } from "./describe-problem.ts";
import type { McpServerConfig } from "./mcp-config.ts";
import { CallNotSent, McpConnection } from "./mcp-connection.ts";
import { openTransport } from "./open-transport.ts";
import { usableTools } from "./usable-tools.ts";

const firstDelayMs = 500;
const longestDelayMs = 30_000;
/** A connection that lasted this long is worth a quick reconnection. */
const stableMs = 60_000;

export interface McpServerPorts {
  readonly log: Logger;
  /** As whom servers run in a sandbox. */
  readonly identity: Identity;
  /** Is called whenever the server's tools have changed. */
  readonly onTools: () => void;
}

/** An MCP server, whose connection is made again with back-off whenever it is lost. */
export class McpServer implements AsyncDisposable {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly #ports: McpServerPorts;
  readonly #end = new AbortController();
  readonly #first = Promise.withResolvers<void>();
  readonly #living: Promise<void>;
  #connection: McpConnection | undefined;
  #problem = "it has not answered yet";
  #said: () => string = () => "";
  #tools: readonly McpTool[] = [];

  /** Connects at once. */
  constructor(name: string, config: McpServerConfig, ports: McpServerPorts) {
    this.name = name;
    this.config = config;
    this.#ports = { ...ports, log: ports.log.child({ server: name }) };
    this.#living = this.#live(this.#end.signal);
  }

  /** The tools that the server last listed, without those that cannot be in a catalog. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  /** Resolves when the first attempt to connect has succeeded or failed. */
  get tried(): Promise<void> {
    return this.#first.promise;
  }

  /** Makes a call. Throws a Failure that says whether the call may have had its effect when the server is away. */
  async call(name: string, context: CallContext, signal: AbortSignal): Promise<CallResult> {
    const connection = this.#connection;
    if (connection === undefined) {
      throw this.#away(`is not connected: ${this.#problem}; the call was not made`);
    }
    try {
      return await connection.call(name, context, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CallNotSent) {
        throw this.#away("is not connected any more; the call was not made", error);
      }
      if (!connection.lost.aborted && error instanceof Failure) throw error;
      // Why it was lost may be what was said of a call of somebody else.
      throw this.#away(
        "is not connected any more: the connection was lost during the call; if the call had reached it, its outcome is unknown",
        error,
      );
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
        await this.#connect(signal);
      } catch (error) {
        this.#problem = describeProblem(error);
        if (performance.now() - began > stableMs) delayMs = firstDelayMs;
        const { log } = this.#ports;
        // What a program says of itself is for its operator; a model is told no more than that it is away.
        const said = this.#said();
        if (!signal.aborted) log.warn({ err: error, said, delayMs }, "MCP server does not answer");
      } finally {
        this.#connection = undefined;
        this.#first.resolve();
      }
      await wait(delayMs, undefined, { signal }).catch(() => undefined);
      delayMs = Math.min(delayMs * 2, longestDelayMs);
    }
  }

  /** One connection, from its start to its loss. */
  async #connect(signal: AbortSignal): Promise<void> {
    const { log, identity, onTools } = this.#ports;
    this.#said = () => "";
    await using way = await openTransport(this.config, identity, log);
    const take = (tools: readonly McpTool[]): void => {
      this.#tools = usableTools(this.name, tools, log);
      onTools();
    };
    const { elicitation } = this.config;
    const options = { name: this.name, elicitation, onTools: take };
    this.#said = way.said;
    await using connection = await McpConnection.open(way, options, signal);
    this.#connection = connection;
    take(connection.tools);
    const { protocol } = connection;
    log.info({ tools: this.#tools.length, protocol }, "MCP server connected");
    this.#first.resolve();
    await aborted(AbortSignal.any([signal, connection.lost]));
    this.#connection = undefined;
    signal.throwIfAborted();
    throw connection.lost.reason;
  }

  #away(problem: string, cause?: unknown): Failure {
    const message = `the MCP server ${this.name} ${problem}`;
    return new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { cause });
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
}
