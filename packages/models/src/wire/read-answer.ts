import type { ModelPart, ModelTurn } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { isFields } from "./merge-delta.ts";
import type { ProviderFailures } from "./provider-failures.ts";
import type { ServerSentEvent } from "./server-sent-events.ts";
import { serverSentEvents } from "./server-sent-events.ts";

/** What an event adds to what a reader sees. Empty texts: nothing. */
export interface AnswerDelta {
  readonly text: string;
  readonly reasoning: string;
}

export const emptyDelta: AnswerDelta = { text: "", reasoning: "" };

/** Puts one turn together from the events of an answer, in the format of one API. */
export interface AnswerAssembly {
  /** Takes the next event. Throws a ModelFailure of reason `malformed` when it is none of this format. */
  add(event: unknown): AnswerDelta;
  /** Whether the provider has said that the answer is whole. */
  readonly isComplete: boolean;
  /** Whether the provider has said that nothing follows. */
  readonly isEnded: boolean;
  /**
   * The turn. Throws a ModelFailure: `unavailable` when the provider has not said why it stopped, `refused` when the
   * model refuses and says nothing else.
   */
  finish(upstreamName: string): ModelTurn;
}

/**
 * Reads a streamed answer: what it says, then its turn. Text that arrives together is one part. Throws a ModelFailure
 * also for what the provider reports in the middle.
 */
export async function* readAnswer(
  { body }: Pick<Response, "body">,
  turn: AnswerAssembly,
  upstreamName: string,
  failures: ProviderFailures,
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  if (body === null) throw new ModelFailure("malformed", "the answer has no body");
  try {
    for await (const events of serverSentEvents(body)) {
      signal.throwIfAborted();
      const { parts, isEnded } = take(events, turn, failures);
      yield* parts;
      if (isEnded) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    // An answer that is whole stays so, whatever happens to its connection.
    if (!turn.isComplete || error instanceof ModelFailure) throw error;
  }
  yield { kind: "turn", turn: turn.finish(upstreamName) };
}

function take(
  events: readonly ServerSentEvent[],
  turn: AnswerAssembly,
  failures: ProviderFailures,
): { readonly parts: readonly ModelPart[]; readonly isEnded: boolean } {
  const parts: { kind: "text" | "reasoning"; text: string }[] = [];
  const say = (kind: "text" | "reasoning", text: string) => {
    if (text === "") return;
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += text;
    else parts.push({ kind, text });
  };
  for (const event of events) {
    if (event.data === "[DONE]") return { parts, isEnded: true };
    const chunk = chunkOf(event);
    if (chunk === undefined) break;
    if (isReport(event, chunk)) throw failures.ofReport(chunk);
    const { reasoning, text } = turn.add(chunk);
    say("reasoning", reasoning);
    say("text", text);
    if (turn.isEnded) return { parts, isEnded: true };
  }
  return { parts, isEnded: false };
}

/** Every API has its own way to say in the middle of a stream that something is wrong. */
function isReport({ name }: ServerSentEvent, chunk: unknown): boolean {
  if (name === "error") return true;
  return isFields(chunk) && (chunk["type"] === "error" || isFields(chunk["error"]));
}

/** What an event says; undefined when the end of the answer cuts it. */
function chunkOf({ data, isCut }: ServerSentEvent): unknown {
  try {
    return JSON.parse(data);
  } catch {
    if (isCut) return undefined;
    // The exception is left out: it quotes what it could not read, which may be an answer.
    throw new ModelFailure("malformed", "the provider sent a chunk that is not JSON");
  }
}
