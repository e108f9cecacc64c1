import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import type { AnswerToolCallRequestSchema, OfferedCall, OfferToolsResponse } from "#contracts/tool";
import type { Services } from "../connection.ts";
import { ReeveError } from "../reeve-error.ts";
import type { Requests } from "../requests.ts";
import type { LiveOptions } from "../watch/live-stream.ts";
import { liveStream } from "../watch/live-stream.ts";
import type { ClientTool } from "./client-tool.ts";
import { manifestOf } from "./client-tool.ts";

/** To what tools are offered, and as which client. */
export interface ServeToolsOptions extends LiveOptions {
  /** The thread whose runs get the tools from now on. */
  readonly threadId?: string;
  /** The run that was started with the same tools as `clientTools`. */
  readonly runId?: string;
  /** Id of this client, unique for each process, and the same when it continues after a crash. */
  readonly clientId: string;
  /** Called for each connection once the tools are offered, with what the target does not have of them. */
  readonly onReady?: (warnings: readonly string[]) => void;
}

type Answer = MessageInitShape<typeof AnswerToolCallRequestSchema>["answer"];

interface Execution {
  readonly end: AbortController;
  readonly answer: Promise<Answer>;
}

/**
 * Offers tools and executes their calls, over any number of lost connections, until the run has ended or the signal aborts. Executes
 * each call once: an answer that a lost connection kept from the server is sent again.
 */
export async function serveTools(
  requests: Requests,
  tools: readonly ClientTool[],
  options: ServeToolsOptions,
): Promise<void> {
  const { threadId = "", runId = "", clientId } = options;
  const target =
    runId === ""
      ? { case: "threadId" as const, value: threadId }
      : { case: "runId" as const, value: runId };
  const request = { target, manifest: manifestOf(clientId, tools) };
  const stream = {
    name: runId === "" ? `tools of thread ${threadId}` : `tools of run ${runId}`,
    open: ({ clientTools }: Services, call: { readonly signal: AbortSignal }) =>
      clientTools.offerTools(request, call),
    isOpening: ({ event }: OfferToolsResponse) => event.case === "ready",
  };
  const executions = new Executions(requests, tools, options);
  try {
    for await (const { event } of liveStream(requests, stream, requests.settings, options)) {
      if (event.case === "ready") options.onReady?.(event.value.warnings);
      if (event.case === "call") executions.receive(event.value);
      if (event.case === "closed") executions.close(event.value.callId);
    }
  } catch (error) {
    if (!(error instanceof ReeveError) || error.reason !== "RUN_ENDED") throw error;
  } finally {
    executions.closeAll();
  }
}

class Executions {
  readonly #requests: Requests;
  readonly #tools: ReadonlyMap<string, ClientTool>;
  readonly #options: ServeToolsOptions;
  /** The calls that the server has not acknowledged the answer of. */
  readonly #open = new Map<string, Execution>();

  constructor(requests: Requests, tools: readonly ClientTool[], options: ServeToolsOptions) {
    this.#requests = requests;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#options = options;
  }

  /** Executes a call, unless it is known: then only its answer is sent again. */
  receive(call: OfferedCall): void {
    const known = this.#open.get(call.callId);
    const execution = known ?? this.#start(call);
    this.#open.set(call.callId, execution);
    void execution.answer.then((answer) => this.#send(call, answer));
  }

  close(callId: string): void {
    this.#open.get(callId)?.end.abort(closed);
    this.#open.delete(callId);
  }

  closeAll(): void {
    for (const callId of this.#open.keys()) this.close(callId);
  }

  #start(call: OfferedCall): Execution {
    const end = new AbortController();
    return { end, answer: this.#execute(call, end.signal) };
  }

  async #execute(call: OfferedCall, signal: AbortSignal): Promise<Answer> {
    const { runId, callId, name, arguments: args = {}, deadline, repeatedDelivery } = call;
    try {
      const tool = this.#tools.get(name);
      if (tool === undefined) throw new Error(`this client has no tool ${name}`);
      const until = deadline === undefined ? new Date(0) : timestampDate(deadline);
      const received = { runId, callId, deadline: until, isRepeated: repeatedDelivery, signal };
      const result = await tool.execute(args, received);
      return typeof result === "string"
        ? { case: "text", value: result }
        : { case: "structured", value: result };
    } catch (error) {
      return { case: "error", value: messageOf(error) };
    }
  }

  /** While no server can be reached, the call stays open, and its answer is sent when the server sends the call again. */
  async #send({ runId, callId }: OfferedCall, answer: Answer): Promise<void> {
    const { clientId } = this.#options;
    const send = (given: Answer) =>
      this.#requests.repeatable(
        ({ clientTools }, call) =>
          clientTools.answerToolCall(
            { runId, callId, clientId, ...(given && { answer: given }) },
            call,
          ),
        {},
      );
    try {
      await send(answer);
    } catch (thrown) {
      const error = ReeveError.from(thrown);
      if (error.isTransient) return;
      // The model learns why, and nobody waits for the deadline.
      if (error.code === Code.InvalidArgument && answer?.case !== "error") {
        await send({ case: "error", value: error.message }).catch(() => undefined);
      }
    }
    this.#open.delete(callId);
  }
}

const closed = new DOMException("the call needs no answer anymore", "AbortError");

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text === "" ? "the tool failed without a message" : text.slice(0, 4_000);
}
