import type { Tool as McpTool } from "@modelcontextprotocol/client";
import type { CallContext, CallResult } from "@reeve/calls/ports/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { steadyClock } from "@reeve/platform/async/clock";
import { Backoff } from "@reeve/platform/async/retry/backoff";
import { sleep, untilAborted } from "@reeve/platform/async/sleep";
import { Failure } from "@reeve/platform/failure";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { withSecrets } from "../../secrets/secret-references.ts";
import { describeProblem } from "./describe-problem.ts";
import { installerHint } from "./installer-hint.ts";
import type { McpServerConfig } from "./mcp-config.ts";
import { CallNotSent, McpConnection } from "./mcp-connection.ts";
import type { TransportPorts } from "./open-transport.ts";
import { openTransport } from "./open-transport.ts";
import { OAuthSessions } from "./oauth/oauth-sessions.ts";
import type { Lease, Opened } from "./tenant-connections.ts";
import { TenantConnections } from "./tenant-connections.ts";
import { isPerTenant, secretTextsOf } from "./tenant-settings.ts";
import { usableTools } from "./usable-tools.ts";

/** Delays between attempts to connect. */
const reconnectBackoff = { firstDelayMs: 500, maxDelayMs: 30_000 };
/** After a connection that lasted this long, the first attempt to reconnect is quick again. */
const stableMs = 60_000;

export interface McpServerPorts extends TransportPorts {
  /** Called when the tools of the server have changed. */
  readonly onTools: () => void;
}

/**
 * An MCP server. Its connection is opened again with back-off whenever it is lost. A server with a connection for each tenant
 * uses that one for nothing but the list of tools.
 */
export class McpServer implements AsyncDisposable {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly #ports: McpServerPorts;
  readonly #end = new AbortController();
  readonly #first = Promise.withResolvers<void>();
  readonly #connecting: Promise<void>;
  #connection: McpConnection | undefined;
  #problem = "it has not answered yet";
  /** The last standard error of the program that could not be used. */
  #output = "";
  /** The problem that the log has since the last connection. */
  #reported: string | undefined;
  #lastOutput: () => string = () => "";
  #tools: readonly McpTool[] = [];
  /** What the server listed last; its usable tools may still be sought. */
  #listed: readonly McpTool[] = [];
  /** Undefined: all tenants share the connection. */
  readonly #tenants: TenantConnections<McpConnection> | undefined;
  readonly #sessions = new OAuthSessions();

  /** Starts to connect at once. */
  constructor(name: string, config: McpServerConfig, ports: McpServerPorts) {
    this.name = name;
    this.config = config;
    this.#ports = { ...ports, log: ports.log.child({ server: name }) };
    if (isPerTenant(config)) {
      this.#tenants = new TenantConnections({
        max: config.max_tenants,
        idleMs: config.idle_seconds * 1_000,
        open: (tenant, _, signal) => this.#open(tenant, () => Promise.resolve(), signal),
        clock: steadyClock,
      });
    }
    this.#connecting = this.#stayConnected(this.#end.signal);
  }

  /** The tools that the server last listed, without those that a catalog cannot hold. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  /** Why it is not connected, for its operator: with the last line that its program wrote. Undefined: it is connected. */
  get problem(): string | undefined {
    if (this.#connection !== undefined) return undefined;
    const line = this.#output.split("\n").at(-1) ?? "";
    return line === "" ? this.#problem : `${this.#problem}: ${line}`;
  }

  /** Whether a call can be sent now. The connection of a tenant is opened for its call. */
  get isReachable(): boolean {
    return this.#tenants !== undefined || this.#connection !== undefined;
  }

  /** Resolves when the first attempt to connect has succeeded or failed. */
  get tried(): Promise<void> {
    return this.#first.promise;
  }

  /** Calls a tool. Throws a Failure that says whether the call may have had its effect when the connection is lost. */
  async call(name: string, context: CallContext, signal: AbortSignal): Promise<CallResult> {
    if (this.#tenants !== undefined) {
      using lease = await this.#lease(this.#tenants, context.tenant, signal);
      return await this.#callOn(lease.connection, name, context, signal);
    }
    const connection = this.#connection;
    if (connection === undefined) {
      throw this.#unavailable(`is not connected: ${this.#problem}; the call was not made`);
    }
    return await this.#callOn(connection, name, context, signal);
  }

  async #callOn(
    connection: McpConnection,
    name: string,
    context: CallContext,
    signal: AbortSignal,
  ): Promise<CallResult> {
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
    await Promise.all([this.#connecting, this.#tenants?.[Symbol.asyncDispose]()]);
  }

  async #stayConnected(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(reconnectBackoff);
    while (!signal.aborted) {
      const startedMs = performance.now();
      const cause: unknown = await this.#connect(signal).catch((error: unknown) => error);
      this.#connection = undefined;
      this.#problem = describeProblem(cause);
      this.#output = this.#lastOutput();
      this.#first.resolve();
      if (performance.now() - startedMs > stableMs) backoff.reset();
      const delayMs = backoff.next();
      if (!signal.aborted) {
        // The output of a program is for its operator. The model only reads that the server is unavailable.
        const hint = installerHint(this.config);
        const fields = { output: this.#output, delayMs, ...(hint && { hint }) };
        // A server that stays away has one entry, however often it is tried. It is no error of the toolhost, so it has no stack.
        const level = this.#problem === this.#reported ? "debug" : "warn";
        this.#reported = this.#problem;
        const message = `MCP server not connected: ${this.#problem}; trying again`;
        this.#ports.log[level](fields, message);
        this.#ports.log.debug({ err: cause }, "MCP server not connected");
      }
      await sleep(delayMs, signal).catch(() => undefined);
    }
  }

  /** Opens one connection and waits until it is lost. Rejects with the cause. */
  async #connect(signal: AbortSignal): Promise<never> {
    const { log, onTools } = this.#ports;
    const take = async (tools: readonly McpTool[]): Promise<void> => {
      this.#listed = tools;
      // A server may repeat what it was sent.
      const usable = await usableTools(this.name, processRedaction.json(tools), log, signal);
      // A later list may have come meanwhile.
      if (this.#listed !== tools) return;
      this.#tools = usable;
      onTools();
    };
    await using opened = await this.#open(this.config.catalog_tenant ?? "", take, signal);
    const { connection } = opened;
    this.#connection = connection;
    this.#reported = undefined;
    await take(connection.tools);
    const { protocol } = connection;
    log.info({ tools: this.#tools.length, protocol }, "MCP server connected");
    this.#first.resolve();
    await untilAborted(AbortSignal.any([signal, connection.lost]));
    this.#connection = undefined;
    signal.throwIfAborted();
    throw connection.lost.reason;
  }

  /** Opens a connection with the secrets of a tenant. */
  async #open(
    tenant: string,
    onTools: (tools: readonly McpTool[]) => Promise<void>,
    signal: AbortSignal,
  ): Promise<Opened<McpConnection>> {
    await using opening = new AsyncDisposableStack();
    this.#lastOutput = () => "";
    const oauth = await this.#sessions.of(this.config, tenant, this.#ports.secrets, signal);
    const ports = { ...this.#ports, oauth };
    const transport = opening.use(await openTransport(this.config, tenant, ports, signal));
    this.#lastOutput = transport.lastOutput.bind(transport);
    const { elicitation, principal } = this.config;
    const options = { name: this.name, elicitation, principal, onTools };
    const connection = opening.use(await McpConnection.open(transport, options, signal));
    const resources = opening.move();
    return { connection, [Symbol.asyncDispose]: () => resources.disposeAsync() };
  }

  /** Returns the connection of a tenant, which is replaced when a secret in its settings has changed. */
  async #lease(
    tenants: TenantConnections<McpConnection>,
    tenant: string,
    signal: AbortSignal,
  ): Promise<Lease<McpConnection>> {
    const { secrets } = this.#ports;
    // Before the connection: the model shall read which secret is missing.
    const filled = await withSecrets(secretTextsOf(this.config), tenant, secrets, signal);
    try {
      return await tenants.lease(tenant, JSON.stringify(filled), signal);
    } catch (error) {
      signal.throwIfAborted();
      const problem = describeProblem(error);
      throw this.#unavailable(
        `has no connection for tenant ${tenant}: ${problem}; the call was not made`,
        error,
      );
    }
  }

  #unavailable(problem: string, cause?: unknown): Failure {
    const message = `the MCP server ${this.name} ${problem}`;
    return new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { cause });
  }
}
