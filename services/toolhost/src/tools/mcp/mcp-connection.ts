import { setTimeout as wait } from "node:timers/promises";
import type {
  CallToolResult,
  InputRequiredResult,
  Tool as McpTool,
  Transport,
} from "@modelcontextprotocol/client";
import { Client, isInputRequiredResult } from "@modelcontextprotocol/client";
import { Failure } from "@reeve/platform/failure";
import type { CallContext, CallResult } from "@reeve/calls/ports/tool";
import { describeProblem } from "./describe-problem.ts";
import type { Ask } from "./elicitation.ts";
import { answersTo, elicit } from "./elicitation.ts";
import { failedOutcome } from "./failed-call.ts";
import { mcpOutcome } from "./mcp-result.ts";
import type { ServerTransport } from "./open-transport.ts";
import { PendingCalls } from "./pending-calls.ts";
import { Silence } from "./silence.ts";
import { Turns } from "@reeve/platform/async/turns";

const connectMs = 15_000;
/** How long a call may be silent, and how long it may last. */
const silenceMs = 120_000;
const maxCallMs = 1_800_000;
/** How long a server may take to answer a call that nobody waits for any more, before others are let in. */
const leftoverMs = 3_000;
const maxPages = 64;
/** How often a server is asked for its tools that does not tell when it is gone, or that they have changed. */
const lookMs = 30_000;

/** How often one call may need more of people. */
const maxRounds = 10;

/** What a call brings that is made again because the server needed more. */
interface Input {
  readonly inputResponses?: Awaited<ReturnType<typeof answersTo>>;
  readonly requestState?: string;
}

interface Round {
  readonly ask: Ask;
  readonly silence: Silence;
  /** Ends the call: it is not wanted, the server is gone, or nothing is heard of it. */
  readonly bounded: AbortSignal;
}

export interface ConnectionOptions {
  /** Name of the server. */
  readonly name: string;
  /** Whether it may ask people. */
  readonly elicitation: boolean;
  readonly onTools: (tools: readonly McpTool[]) => void;
}

/** One connection to an MCP server, from its start to its loss. */
export class McpConnection implements AsyncDisposable {
  readonly #client: Client;
  readonly #name: string;
  readonly #asks: boolean;
  readonly #turns = new Turns();
  readonly #owed = new PendingCalls();
  /** Asks for the call whose turn it is. */
  #ask: Ask | undefined;
  readonly #onTools: (tools: readonly McpTool[]) => void;
  readonly #end = new AbortController();
  #tools: readonly McpTool[] = [];
  #isOpen = false;
  #listing: Promise<void> = Promise.resolve();

  private constructor({ name, elicitation, onTools }: ConnectionOptions) {
    this.#name = name;
    this.#asks = elicitation;
    this.#onTools = onTools;
    this.#client = new Client(
      { name: "reeve", version: "0.1.0" },
      {
        versionNegotiation: { mode: "auto", probe: { timeoutMs: connectMs } },
        listMaxPages: maxPages,
        ...(elicitation && { capabilities: { elicitation: { form: {} } } }),
        inputRequired: { autoFulfill: false },
        listChanged: { tools: { autoRefresh: false, onChanged: () => void this.#look() } },
      },
    );
    if (elicitation) {
      this.#client.setRequestHandler("elicitation/create", async ({ params }) => {
        const ask = this.#ask;
        if (ask === undefined) return { action: "cancel" };
        try {
          const answer = await elicit(name, params, ask);
          return this.#ask === ask ? answer : { action: "cancel" };
        } catch (error) {
          if (this.#ask === ask) throw error;
          return { action: "cancel" };
        }
      });
    }
    // A client of this SDK has no addEventListener.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    this.#client.onclose = () => this.#lose(new Error("the connection was closed"));
  }

  /**
   * Connects by the newest protocol that both know, and lists the tools; `onTools` is called when they change later.
   * Rejects when that does not succeed.
   */
  static async open(
    { transport, endsWithServer }: ServerTransport,
    options: ConnectionOptions,
    signal: AbortSignal,
  ): Promise<McpConnection> {
    await using opening = new AsyncDisposableStack();
    const connection = opening.use(new McpConnection(options));
    await connection.#client.connect(transport, { signal, timeout: connectMs });
    if (connection.#asksInTurn) connection.#owed.watch(transport);
    deliverApart(transport);
    await connection.#list(signal);
    connection.#isOpen = true;
    if (!endsWithServer) void connection.#watch();
    opening.move();
    return connection;
  }

  /** The tools that the server last listed. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  /** Aborts when the server is gone; the reason says what was seen of it. */
  get lost(): AbortSignal {
    return this.#end.signal;
  }

  get #asksInTurn(): boolean {
    return this.#asks && this.#client.getProtocolEra() === "legacy";
  }

  /** The revision of the protocol that is spoken. */
  get protocol(): string {
    return this.#client.getNegotiatedProtocolVersion() ?? "";
  }

  /** Makes a call. What the server refuses is an outcome; rejects when the connection is lost or `signal` aborts. */
  async call(name: string, context: CallContext, signal: AbortSignal): Promise<CallResult> {
    const until = AbortSignal.any([signal, this.lost]);
    // A server of the older protocol does not say for which call it asks: there is only one.
    const turn = this.#asksInTurn ? await this.#enter(until) : undefined;
    try {
      using silence = new Silence(silenceMs);
      const bounded = AbortSignal.any([until, silence.signal]);
      const ask: Ask = (question) => silence.except(context.ask(question));
      if (turn !== undefined) this.#ask = ask;
      return await this.#callRound(name, context, { ask, silence, bounded });
    } catch (error) {
      signal.throwIfAborted();
      this.lost.throwIfAborted();
      // Nobody could be asked, say; that is no fault of the server.
      if (error instanceof Failure) throw error;
      return await this.#outcomeOf(error);
    } finally {
      if (turn !== undefined) void this.#leave(turn);
    }
  }

  async #enter(until: AbortSignal): Promise<Disposable> {
    try {
      return await this.#turns.enter(until);
    } catch (error) {
      throw this.lost.aborted ? new CallNotSent() : error;
    }
  }

  /**
   * Gives the turn on once the server has answered the call, however it ended here: until then it may ask for it, and the
   * question would go to the person of the next call. A server that does not answer is lost.
   */
  async #leave(turn: Disposable): Promise<void> {
    this.#ask = undefined;
    try {
      if (!(await this.#owed.settled(leftoverMs, this.lost))) {
        this.#lose(new Error("a call that was cancelled was not answered"));
      }
    } catch {
      // The connection is lost, and with it whatever the server might ask.
    }
    turn[Symbol.dispose]();
  }

  /** Calls, and calls again with what people answered, until the server has what it needs. */
  async #callRound(
    name: string,
    { traceparent, args, report }: CallContext,
    { ask, silence, bounded }: Round,
  ): Promise<CallResult> {
    const trace = traceparent === "" ? undefined : { traceparent };
    let input: Input = {};
    for (let round = 0; round < maxRounds; round++) {
      const result: CallToolResult | InputRequiredResult = await this.#client.callTool(
        { name, arguments: args, ...(trace && { _meta: trace }), ...input },
        {
          signal: bounded,
          timeout: maxCallMs,
          allowInputRequired: true,
          toolDefinition: this.#withoutOutputSchema(name),
          onprogress: ({ progress, total, message = "" }) => {
            silence.heard();
            report({ progress, message, ...(total !== undefined && { total }) });
          },
        },
      );
      if (!isInputRequiredResult(result)) return mcpOutcome(result);
      const mayAsk = this.#asks ? ask : undefined;
      const inputResponses = await answersTo(this.#name, result.inputRequests, mayAsk);
      if (inputResponses === undefined) {
        return { content: "the server wants to know what nobody may tell it", isError: true };
      }
      const { requestState } = result;
      input = { inputResponses, ...(requestState !== undefined && { requestState }) };
    }
    return { content: `the server has asked ${maxRounds} times and goes on`, isError: true };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lose(new DOMException("the connection is not needed any more", "AbortError"));
    await this.#client.close();
  }

  #lose(reason: unknown): void {
    if (!this.#end.signal.aborted) this.#end.abort(reason);
  }

  /**
   * What became of a call that failed is told of that call alone, because others have theirs over the same connection. Where
   * the server may be gone it is asked for its tools, and lost when it does not list them.
   */
  async #outcomeOf(error: unknown): Promise<CallResult> {
    const known = failedOutcome(error, silenceMs);
    if (known !== undefined) return known;
    await this.#look();
    this.lost.throwIfAborted();
    const content = `the call failed: ${describeProblem(error)}; its outcome is unknown`;
    return { content, isError: true };
  }

  /** Schemas of results come from others; whether a result holds to one is not for us to enforce. */
  #withoutOutputSchema(name: string): McpTool {
    const listed = this.#tools.find((tool) => tool.name === name);
    const { outputSchema: _left, ...tool } = listed ?? { name, inputSchema: { type: "object" } };
    return tool;
  }

  async #watch(): Promise<void> {
    while (!this.lost.aborted) {
      await wait(lookMs, undefined, { signal: this.lost, ref: false }).catch(() => undefined);
      await this.#look();
    }
  }

  /** Lists the tools again, one time after the other. A server that does not list them is lost. */
  async #look(): Promise<void> {
    const before = this.#listing;
    const listing = async () => {
      await before;
      if (!this.lost.aborted) await this.#list(this.lost);
    };
    this.#listing = listing().catch((error: unknown) => this.#lose(error));
    await this.#listing;
  }

  async #list(signal: AbortSignal): Promise<void> {
    const options = { signal, timeout: connectMs, cacheMode: "bypass" } as const;
    const { tools } = await this.#client.listTools(undefined, options);
    const isChanged = JSON.stringify(tools) !== JSON.stringify(this.#tools);
    this.#tools = tools;
    if (isChanged && this.#isOpen) this.#onTools(tools);
  }
}

/** The connection was lost before a call was sent. */
export class CallNotSent extends Error {
  override readonly name = "CallNotMade";
}

/**
 * Delivers each message in a turn of the event loop of its own. The client hears of progress a moment later than of an
 * answer, and drops what belongs to a call that has been answered: progress right before its answer would be lost.
 */
function deliverApart(transport: Transport): void {
  const deliver = transport.onmessage;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  transport.onmessage = (message, extra) => {
    setImmediate(() => deliver?.(message, extra));
  };
}
