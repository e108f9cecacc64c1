import type {
  CallToolResult,
  InputRequiredResult,
  Tool as McpTool,
  Transport,
} from "@modelcontextprotocol/client";
import { Client, isInputRequiredResult } from "@modelcontextprotocol/client";
import type { CallContext, CallResult } from "@reeve/calls/ports/tool";
import { abortable } from "@reeve/platform/async/abortable";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { IdleTimeout } from "@reeve/platform/async/idle-timeout";
import { sleep } from "@reeve/platform/async/sleep";
import { Failure } from "@reeve/platform/failure";
import { describeProblem } from "./describe-problem.ts";
import type { Ask } from "./elicitation.ts";
import { answersTo, elicit } from "./elicitation.ts";
import { failedCall } from "./failed-call.ts";
import { mcpResult } from "./mcp-result.ts";
import type { ServerTransport } from "./open-transport.ts";
import { PendingCalls } from "./pending-calls.ts";
import type { PrincipalSetting } from "./principal-of.ts";
import { metaOf, principalHeaders } from "./principal-of.ts";

const connectTimeoutMs = 15_000;
/** How long a call may be silent, and how long it may take in total. */
const idleTimeoutMs = 120_000;
const callTimeoutMs = 1_800_000;
/** How long a server may take to answer a call that has ended here, before the next one may start. */
const leftoverTimeoutMs = 3_000;
const maxPages = 64;
/** Interval between tool listings for a server that notifies neither of changes nor of its end. */
const listIntervalMs = 30_000;

/** How many times a server may request input for one call. */
const maxInputRequests = 10;

/** The input with which a call is repeated because the server requested it. */
interface Input {
  readonly inputResponses?: Awaited<ReturnType<typeof answersTo>>;
  readonly requestState?: string;
}

export interface ConnectionOptions {
  /** Name of the server. */
  readonly name: string;
  /** Whether the server may ask people. */
  readonly elicitation: boolean;
  /** How the server receives who calls. */
  readonly principal: PrincipalSetting;
  readonly onTools: (tools: readonly McpTool[]) => Promise<void>;
}

/** One connection to an MCP server, from its start to its loss. */
export class McpConnection implements AsyncDisposable {
  readonly #client: Client;
  readonly #name: string;
  readonly #mayAsk: boolean;
  readonly #principal: PrincipalSetting;
  readonly #turns = new Semaphore(1);
  readonly #pending = new PendingCalls();
  /** Asks a person on behalf of the call whose turn it is. */
  #ask: Ask | undefined;
  readonly #onTools: (tools: readonly McpTool[]) => Promise<void>;
  readonly #end = new AbortController();
  #tools: readonly McpTool[] = [];
  #isOpen = false;
  #listing: Promise<void> = Promise.resolve();

  private constructor({ name, elicitation, principal, onTools }: ConnectionOptions) {
    this.#name = name;
    this.#principal = principal;
    this.#mayAsk = elicitation;
    this.#onTools = onTools;
    this.#client = new Client(
      { name: "reeve", version: "0.1.0" },
      {
        versionNegotiation: { mode: "auto", probe: { timeoutMs: connectTimeoutMs } },
        listMaxPages: maxPages,
        ...(elicitation && { capabilities: { elicitation: { form: {} } } }),
        inputRequired: { autoFulfill: false },
        listChanged: { tools: { autoRefresh: false, onChanged: () => void this.#relist() } },
      },
    );
    if (elicitation) this.#handleElicitation();
    // A client of this SDK has no addEventListener.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    this.#client.onclose = () => this.#lose(new Error("the connection was closed"));
  }

  /**
   * Connects by the newest protocol that both sides know, and lists the tools. `onTools` is called when they change later.
   * Rejects when that fails.
   */
  static async open(
    { transport, notifiesOfLoss }: ServerTransport,
    options: ConnectionOptions,
    signal: AbortSignal,
  ): Promise<McpConnection> {
    await using opening = new AsyncDisposableStack();
    const connection = opening.use(new McpConnection(options));
    const connecting = connection.#client.connect(transport, { signal, timeout: connectTimeoutMs });
    // The client does not end its probe of the protocol when the signal aborts.
    await abortable(connecting, signal);
    if (connection.#takesTurns) connection.#pending.watch(transport);
    deliverInSeparateTurns(transport);
    await connection.#list(signal);
    connection.#isOpen = true;
    if (!notifiesOfLoss) void connection.#poll();
    opening.move();
    return connection;
  }

  /** The tools that the server last listed. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  /** Aborts when the server is gone. The reason is the error that showed it. */
  get lost(): AbortSignal {
    return this.#end.signal;
  }

  /** The revision of the protocol in use. */
  get protocol(): string {
    return this.#client.getNegotiatedProtocolVersion() ?? "";
  }

  /** Calls a tool. A refusal of the server is a result. Rejects when the connection is lost or `signal` aborts. */
  async call(name: string, context: CallContext, signal: AbortSignal): Promise<CallResult> {
    const until = AbortSignal.any([signal, this.lost]);
    const turn = this.#takesTurns ? await this.#takeTurn(until) : undefined;
    try {
      using idle = new IdleTimeout({ timeoutMs: idleTimeoutMs }, until);
      const ask: Ask = (question) => idle.suspendWhile(context.ask(question));
      if (turn !== undefined) this.#ask = ask;
      return await this.#callUntilComplete(name, context, ask, idle);
    } catch (error) {
      signal.throwIfAborted();
      this.lost.throwIfAborted();
      // The question was not asked, for example. That is not an error of the server.
      if (error instanceof Failure) throw error;
      return await this.#resultOf(error);
    } finally {
      if (turn !== undefined) void this.#endTurn(turn);
    }
  }

  /** A server of the older protocol does not say for which call it asks, so that only one may run at a time. */
  get #takesTurns(): boolean {
    return this.#mayAsk && this.#client.getProtocolEra() === "legacy";
  }

  async #takeTurn(until: AbortSignal): Promise<Disposable> {
    try {
      return await this.#turns.acquire(until);
    } catch (error) {
      throw this.lost.aborted ? new CallNotSent() : error;
    }
  }

  /**
   * Ends a turn once the server has answered the call, even if the call has ended here: until then the server may ask for it, and
   * the question would go to the person of the next call. A server that does not answer counts as lost.
   */
  async #endTurn(turn: Disposable): Promise<void> {
    this.#ask = undefined;
    try {
      if (!(await this.#pending.settled(leftoverTimeoutMs, this.lost))) {
        this.#lose(new Error("the server did not answer a call that was cancelled"));
      }
    } catch {
      // The connection is lost, and the server can ask nothing any more.
    }
    turn[Symbol.dispose]();
  }

  #handleElicitation(): void {
    this.#client.setRequestHandler("elicitation/create", async ({ params }) => {
      const ask = this.#ask;
      if (ask === undefined) return { action: "cancel" };
      try {
        const answer = await elicit(this.#name, params, ask);
        return this.#ask === ask ? answer : { action: "cancel" };
      } catch (error) {
        if (this.#ask === ask) throw error;
        return { action: "cancel" };
      }
    });
  }

  /** Calls a tool, and repeats the call with the answers of people while the server requests input. */
  async #callUntilComplete(
    name: string,
    context: CallContext,
    ask: Ask,
    idle: IdleTimeout,
  ): Promise<CallResult> {
    const { args, report } = context;
    const meta = metaOf(this.#principal, context);
    const headers = principalHeaders(this.#principal, context);
    let input: Input = {};
    for (let attempt = 0; attempt < maxInputRequests; attempt++) {
      const result: CallToolResult | InputRequiredResult = await this.#client.callTool(
        { name, arguments: args, ...(meta && { _meta: meta }), ...input },
        {
          ...(headers && { headers }),
          signal: idle.signal,
          timeout: callTimeoutMs,
          allowInputRequired: true,
          toolDefinition: this.#withoutOutputSchema(name),
          onprogress: ({ progress, total, message = "" }) => {
            idle.restart();
            report({ progress, message, ...(total !== undefined && { total }) });
          },
        },
      );
      if (!isInputRequiredResult(result)) return mcpResult(result);
      const mayAsk = this.#mayAsk ? ask : undefined;
      const inputResponses = await answersTo(this.#name, result.inputRequests, mayAsk);
      if (inputResponses === undefined) {
        return { content: "the server requests input that it may not have", isError: true };
      }
      const { requestState } = result;
      input = { inputResponses, ...(requestState !== undefined && { requestState }) };
    }
    const content = `the server requested input ${maxInputRequests} times without ending the call`;
    return { content, isError: true };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lose(new DOMException("the connection is no longer needed", "AbortError"));
    await this.#client.close();
  }

  #lose(reason: unknown): void {
    if (!this.#end.signal.aborted) this.#end.abort(reason);
  }

  /**
   * Returns the result of a call that failed, which concerns that call alone: others share the connection. If the server may be
   * gone, it is asked for its tools, and counts as lost when it does not list them.
   */
  async #resultOf(error: unknown): Promise<CallResult> {
    const known = failedCall(error, idleTimeoutMs);
    if (known !== undefined) return known;
    await this.#relist();
    this.lost.throwIfAborted();
    const content = `the call failed: ${describeProblem(error)}; its outcome is unknown`;
    return { content, isError: true };
  }

  /** The server defines the schema of its results. The client must not reject a result because it violates that schema. */
  #withoutOutputSchema(name: string): McpTool {
    const listed = this.#tools.find((tool) => tool.name === name);
    const { outputSchema: _removed, ...tool } = listed ?? { name, inputSchema: { type: "object" } };
    return tool;
  }

  async #poll(): Promise<void> {
    while (!this.lost.aborted) {
      await sleep(listIntervalMs, this.lost).catch(() => undefined);
      await this.#relist();
    }
  }

  /** Lists the tools again, after a listing in progress. A server that does not list them counts as lost. */
  async #relist(): Promise<void> {
    const before = this.#listing;
    const listing = async () => {
      await before;
      if (!this.lost.aborted) await this.#list(this.lost);
    };
    this.#listing = listing().catch((error: unknown) => this.#lose(error));
    await this.#listing;
  }

  async #list(signal: AbortSignal): Promise<void> {
    const options = { signal, timeout: connectTimeoutMs, cacheMode: "bypass" } as const;
    const { tools } = await this.#client.listTools(undefined, options);
    const isChanged = JSON.stringify(tools) !== JSON.stringify(this.#tools);
    this.#tools = tools;
    if (isChanged && this.#isOpen) await this.#onTools(tools);
  }
}

/** The connection was lost before a call was sent. */
export class CallNotSent extends Error {
  override readonly name = "CallNotSent";
}

/**
 * Delivers each message in a separate turn of the event loop. The client handles progress a moment later than an answer, and
 * drops progress of a call that has been answered: without this, progress right before the answer would be lost.
 */
function deliverInSeparateTurns(transport: Transport): void {
  const deliver = transport.onmessage;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  transport.onmessage = (message, extra) => {
    setImmediate(() => deliver?.(message, extra));
  };
}
