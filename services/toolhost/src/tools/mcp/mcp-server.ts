import type { Tool as McpTool } from "@modelcontextprotocol/client";
import type { CallContext, CallResult } from "@reeve/calls/ports/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { Backoff } from "@reeve/platform/async/retry/backoff";
import { sleep, untilAborted } from "@reeve/platform/async/sleep";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Identity } from "@reeve/sandbox/host/identity";
import { describeProblem } from "./describe-problem.ts";
import { installerHint } from "./installer-hint.ts";
import type { McpServerConfig } from "./mcp-config.ts";
import { CallNotSent, McpConnection } from "./mcp-connection.ts";
import { openTransport } from "./open-transport.ts";
import { usableTools } from "./usable-tools.ts";

/** Delays between attempts to connect. */
const reconnectBackoff = { firstDelayMs: 500, maxDelayMs: 30_000 };
/** After a connection that lasted this long, the first attempt to reconnect is quick again. */
const stableMs = 60_000;

export interface McpServerPorts {
  readonly log: Logger;
  /** The user that runs servers in a sandbox. */
  readonly identity: Identity;
  /** Called when the tools of the server have changed. */
  readonly onTools: () => void;
}

/** An MCP server. Its connection is opened again with back-off whenever it is lost. */
export class McpServer implements AsyncDisposable {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly #ports: McpServerPorts;
  readonly #end = new AbortController();
  readonly #first = Promise.withResolvers<void>();
  readonly #connecting: Promise<void>;
  #connection: McpConnection | undefined;
  #problem = "it has not answered yet";
  /** The problem that the log has since the last connection. */
  #reported: string | undefined;
  #lastOutput: () => string = () => "";
  #tools: readonly McpTool[] = [];

  /** Starts to connect at once. */
  constructor(name: string, config: McpServerConfig, ports: McpServerPorts) {
    this.name = name;
    this.config = config;
    this.#ports = { ...ports, log: ports.log.child({ server: name }) };
    this.#connecting = this.#stayConnected(this.#end.signal);
  }

  /** The tools that the server last listed, without those that a catalog cannot hold. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  /** Why it is not connected. Undefined: it is connected. */
  get problem(): string | undefined {
    return this.#connection === undefined ? this.#problem : undefined;
  }

  /** Resolves when the first attempt to connect has succeeded or failed. */
  get tried(): Promise<void> {
    return this.#first.promise;
  }

  /** Calls a tool. Throws a Failure that says whether the call may have had its effect when the connection is lost. */
  async call(name: string, context: CallContext, signal: AbortSignal): Promise<CallResult> {
    const connection = this.#connection;
    if (connection === undefined) {
      throw this.#unavailable(`is not connected: ${this.#problem}; the call was not made`);
    }
    try {
      return await connection.call(name, context, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CallNotSent) {
        throw this.#unavailable("is not connected any more; the call was not made", error);
      }
      if (!connection.lost.aborted && error instanceof Failure) throw error;
      // The message does not include why the connection was lost: that may concern the call of another tenant.
      throw this.#unavailable(
        "is not connected any more: the connection was lost during the call; if the call had reached it, its outcome is unknown",
        error,
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new DOMException("the toolhost ends", "AbortError"));
    await this.#connecting;
  }

  async #stayConnected(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(reconnectBackoff);
    while (!signal.aborted) {
      const startedMs = performance.now();
      const cause: unknown = await this.#connect(signal).catch((error: unknown) => error);
      this.#connection = undefined;
      this.#problem = describeProblem(cause);
      this.#first.resolve();
      if (performance.now() - startedMs > stableMs) backoff.reset();
      const delayMs = backoff.next();
      if (!signal.aborted) {
        // The output of a program is for its operator. The model only reads that the server is unavailable.
        const hint = installerHint(this.config);
        const fields = { err: cause, output: this.#lastOutput(), delayMs, ...(hint && { hint }) };
        // A server that stays away has one entry, however often it is tried.
        const level = this.#problem === this.#reported ? "debug" : "warn";
        this.#reported = this.#problem;
        const message = `MCP server not connected: ${this.#problem}; trying again`;
        this.#ports.log[level](fields, message);
      }
      await sleep(delayMs, signal).catch(() => undefined);
    }
  }

  /** Opens one connection and waits until it is lost. Rejects with the cause. */
  async #connect(signal: AbortSignal): Promise<never> {
    const { log, identity, onTools } = this.#ports;
    this.#lastOutput = () => "";
    await using transport = await openTransport(this.config, identity, log);
    const take = (tools: readonly McpTool[]): void => {
      this.#tools = usableTools(this.name, tools, log);
      onTools();
    };
    const { elicitation } = this.config;
    const options = { name: this.name, elicitation, onTools: take };
    this.#lastOutput = transport.lastOutput.bind(transport);
    await using connection = await McpConnection.open(transport, options, signal);
    this.#connection = connection;
    this.#reported = undefined;
    take(connection.tools);
    const { protocol } = connection;
    log.info({ tools: this.#tools.length, protocol }, "MCP server connected");
    this.#first.resolve();
    await untilAborted(AbortSignal.any([signal, connection.lost]));
    this.#connection = undefined;
    signal.throwIfAborted();
    throw connection.lost.reason;
  }

  #unavailable(problem: string, cause?: unknown): Failure {
    const message = `the MCP server ${this.name} ${problem}`;
    return new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { cause });
  }
}
