import type { ModelPart, ModelTurn } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { isFields } from "./merge-delta.ts";
import type { ProviderFailures } from "./provider-failures.ts";
import type { ServerSentEvent } from "./server-sent-events.ts";
import { serverSentEvents } from "./server-sent-events.ts";

/** The text that one event adds to an answer. */
export interface AnswerDelta {
  readonly text: string;
  readonly reasoning: string;
}

export const emptyDelta: AnswerDelta = { text: "", reasoning: "" };

/** Assembles a turn from the events of an answer in the format of one API. */
export interface AnswerAssembly {
  /** Adds the next event. Throws a ModelFailure with the reason `malformed` if it is not of this format. */
  add(event: unknown): AnswerDelta;
  /** Whether the provider has begun to answer: with text, reasoning, or a tool call. */
  readonly hasBegun: boolean;
  /** Whether the provider has reported the end of the answer. */
  readonly isComplete: boolean;
  /** Whether no further event follows. */
  readonly isEnded: boolean;
  /**
   * Returns the turn. Throws a ModelFailure: `unavailable` if the answer is not complete, `refused` if the model refused
   * and said nothing else.
   */
  finish(upstreamName: string): ModelTurn;
}

/**
 * Reads a streamed answer. Yields its text, and finally its turn; text that arrives together is one part. Throws a
 * ModelFailure also for an error that the provider reports within the stream, and for a body that has no events.
 */
export async function* readAnswer(
  { body, headers }: Pick<Response, "body" | "headers">,
  turn: AnswerAssembly,
  upstreamName: string,
  failures: ProviderFailures,
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  if (body === null) throw new ModelFailure("malformed", "the answer has no body");
  let hasEvents = false;
  try {
    for await (const events of serverSentEvents(body)) {
      hasEvents = true;
      signal.throwIfAborted();
      const { parts, isEnded } = assemble(events, turn, failures);
      yield* parts;
      if (isEnded) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    // A complete answer stays complete when its connection breaks.
    if (!turn.isComplete || error instanceof ModelFailure) throw afterBegin(error, turn, failures);
  }
  if (!hasEvents) assertEventStream(headers, failures);
  yield { kind: "turn", turn: finished(turn, upstreamName, failures) };
}

/** A whole body of another type comes from a server that is not this API, and that sends it again after a retry. */
function assertEventStream(headers: Headers, failures: ProviderFailures): void {
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  if (type !== "" && type !== "text/event-stream") throw failures.ofOtherType(type);
}

function finished(
  turn: AnswerAssembly,
  upstreamName: string,
  failures: ProviderFailures,
): ModelTurn {
  try {
    return turn.finish(upstreamName);
  } catch (error) {
    throw afterBegin(error, turn, failures);
  }
}

/** Returns the failure for an exception, which tells whether the answer had begun. */
function afterBegin(
  exception: unknown,
  { hasBegun }: AnswerAssembly,
  failures: ProviderFailures,
): unknown {
  const error = failures.ofException(exception);
  if (!(error instanceof ModelFailure) || !hasBegun) return error;
  const { reason, message, retryable, retryAfterMs, cause } = error;
  return new ModelFailure(reason, message, { retryable, retryAfterMs, cause, answerBegan: true });
}

function assemble(
  events: readonly ServerSentEvent[],
  turn: AnswerAssembly,
  failures: ProviderFailures,
): { readonly parts: readonly ModelPart[]; readonly isEnded: boolean } {
  const parts: { kind: "text" | "reasoning"; text: string }[] = [];
  const add = (kind: "text" | "reasoning", text: string) => {
    if (text === "") return;
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += text;
    else parts.push({ kind, text });
  };
  for (const event of events) {
    if (event.data === "[DONE]") return { parts, isEnded: true };
    const chunk = chunkOf(event);
    if (chunk === undefined) break;
    if (isErrorReport(event, chunk)) throw failures.ofReport(chunk);
    const { reasoning, text } = turn.add(chunk);
    add("reasoning", reasoning);
    add("text", text);
    if (turn.isEnded) return { parts, isEnded: true };
  }
  return { parts, isEnded: false };
}

/** Each API reports an error within a stream in a different way. */
function isErrorReport({ name }: ServerSentEvent, chunk: unknown): boolean {
  if (name === "error") return true;
  return isFields(chunk) && (chunk["type"] === "error" || isFields(chunk["error"]));
}

/** Parses the data of an event; undefined if the end of the answer cuts it. */
function chunkOf({ data, isCut }: ServerSentEvent): unknown {
  try {
    return JSON.parse(data);
  } catch {
    if (isCut) return undefined;
    // Without the exception as its cause: that quotes the data, which may be part of an answer.
    throw new ModelFailure("malformed", "the provider sent a chunk that is not JSON");
  }
}
