import { setTimeout as wait } from "node:timers/promises";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import type { AnswerToolCallRequestSchema, ClosedCall, OfferedCall } from "#contracts/tool";
import { ReeveError } from "../reeve-error.ts";
import type { Requests } from "../requests.ts";
import type { ClientTool } from "./client-tool.ts";

type Answer = NonNullable<MessageInitShape<typeof AnswerToolCallRequestSchema>["answer"]>;

interface Execution {
  readonly end: AbortController;
  readonly deadlineMs: number;
  /** Whether nothing more will be sent. */
  isDone: boolean;
  /** Settles when the answer was sent, or is not needed. Undefined: there is no answer yet. */
  sending: Promise<unknown> | undefined;
}

/** Clocks may differ: an execution is remembered for this time after the deadline of its call. */
const clockSkewMs = 60_000;

/**
 * Executes the calls of a client, each once, and sends each answer until the server has it, refuses it for good, closes the call, or
 * the deadline is over. A call stays known until the server closes it or its deadline is over: a stream may deliver it again after its
 * answer was acknowledged.
 */
export class Executions {
  readonly #requests: Pick<Requests, "repeatable">;
  readonly #tools: ReadonlyMap<string, ClientTool>;
  readonly #clientId: string;
  readonly #known = new Map<string, Execution>();

  constructor(
    requests: Pick<Requests, "repeatable">,
    tools: readonly ClientTool[],
    clientId: string,
  ) {
    this.#requests = requests;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#clientId = clientId;
  }

  /** Executes a call, unless it is known. */
  receive(call: OfferedCall): void {
    this.#forgetOld();
    if (this.#known.has(keyOf(call))) return;
    const deadlineMs = call.deadline === undefined ? 0 : timestampDate(call.deadline).getTime();
    const execution: Execution = {
      end: new AbortController(),
      deadlineMs,
      isDone: false,
      sending: undefined,
    };
    this.#known.set(keyOf(call), execution);
    void this.#run(call, execution);
  }

  close(call: Pick<ClosedCall, "runId" | "callId">): void {
    this.#known.get(keyOf(call))?.end.abort(closed);
    this.#known.delete(keyOf(call));
  }

  /** Ends the executions without an answer, and waits until the others have sent theirs, at most for `timeoutMs`, or until `signal` aborts. */
  async finish(timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    const open = [...this.#known.values()].filter(({ isDone }) => !isDone);
    for (const { end, sending } of open) if (sending === undefined) end.abort(closed);
    const sent = new AbortController();
    const ends = signal === undefined ? [sent.signal] : [sent.signal, signal];
    const late = wait(timeoutMs, undefined, { signal: AbortSignal.any(ends) });
    const last = open.flatMap(({ sending }) => (sending === undefined ? [] : [sending]));
    const all = Promise.allSettled(last).then(() => sent.abort());
    await Promise.race([all, late.catch(() => undefined)]);
  }

  closeAll(): void {
    for (const { end } of this.#known.values()) end.abort(closed);
    this.#known.clear();
  }

  async #run(call: OfferedCall, execution: Execution): Promise<void> {
    const answer = await this.#execute(call, execution);
    const sending = this.#sendUntilDone(call, answer, execution);
    execution.sending = sending;
    const isFinal = await sending;
    execution.isDone = true;
    if (isFinal && this.#known.get(keyOf(call)) === execution) this.#known.delete(keyOf(call));
  }

  async #execute(call: OfferedCall, { end, deadlineMs }: Execution): Promise<Answer> {
    const { runId, callId, name, arguments: args = {}, repeatedDelivery: isRepeated } = call;
    const { signal } = end;
    try {
      const tool = this.#tools.get(name);
      if (tool === undefined) throw new Error(`this client has no tool ${name}`);
      const received = { runId, callId, deadline: new Date(deadlineMs), isRepeated, signal };
      return answerOf(name, await tool.execute(args, received));
    } catch (error) {
      return errorOf(error);
    }
  }

  /** Returns whether the server has said that it will never need an answer. */
  async #sendUntilDone(
    call: OfferedCall,
    executed: Answer,
    { end, deadlineMs }: Execution,
  ): Promise<boolean> {
    let answer = executed;
    for (let failures = 1; !end.signal.aborted; failures++) {
      try {
        await this.#send(call, answer);
        return false;
      } catch (thrown) {
        const error = ReeveError.from(thrown);
        if (isFinal(error)) return true;
        if (error.reason === "CLIENT_CLOSED") return false;
        if (error.code === Code.InvalidArgument) {
          if (answer.case === "error") return false;
          // The model learns why, and nobody waits for the deadline.
          answer = errorOf(error);
          continue;
        }
        if (Date.now() >= deadlineMs) return false;
      }
      // An abort ends the loop.
      await wait(delayMs(failures), undefined, { signal: end.signal }).catch(() => undefined);
    }
    return false;
  }

  async #send({ runId, callId }: OfferedCall, answer: Answer): Promise<void> {
    const request = { runId, callId, clientId: this.#clientId, answer };
    await this.#requests.repeatable(
      ({ clientTools }, call) => clientTools.answerToolCall(request, call),
      {},
    );
  }

  #forgetOld(): void {
    const before = Date.now() - clockSkewMs;
    for (const [key, { isDone, deadlineMs }] of this.#known) {
      if (isDone && deadlineMs < before) this.#known.delete(key);
    }
  }
}

const firstDelayMs = 500;
const maxDelayMs = 10_000;

function delayMs(failures: number): number {
  const maxMs = Math.min(firstDelayMs * 2 ** (failures - 1), maxDelayMs);
  return maxMs * (0.5 + Math.random() / 2);
}

const closed = new DOMException("the call needs no answer anymore", "AbortError");
const finalReasons: ReadonlySet<string> = new Set(["CALL_CLOSED", "CALL_ANSWERED", "RUN_ENDED"]);

function isFinal({ code, reason }: ReeveError): boolean {
  return code === Code.NotFound || finalReasons.has(reason);
}

function keyOf({ runId, callId }: Pick<OfferedCall, "runId" | "callId">): string {
  return `${runId}/${callId}`;
}

function answerOf(name: string, result: unknown): Answer {
  if (result === undefined) return { case: "text", value: "" };
  if (typeof result === "string") return { case: "text", value: result };
  if (!isPlainObject(result)) {
    const kind = Array.isArray(result) ? "a list" : result === null ? "null" : typeof result;
    throw new TypeError(`the tool ${name} returned ${kind}; return text, or an object`);
  }
  // As JSON, so that a member such as a date has the form that it has elsewhere. An object gives an object.
  return { case: "structured", value: JSON.parse(JSON.stringify(result)) as JsonObject };
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The size of a description of a failure, in bytes. */
const maxErrorBytes = 16_384;

function errorOf(error: unknown): Answer {
  const message = error instanceof Error ? error.message : String(error);
  const text = message === "" ? "the tool failed without a message" : message;
  const bytes = new TextEncoder().encode(text).subarray(0, maxErrorBytes);
  // As part of a stream, the decoder leaves out a character that was cut.
  return { case: "error", value: new TextDecoder().decode(bytes, { stream: true }) };
}
