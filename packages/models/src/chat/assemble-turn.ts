import type { ModelTurn, ModelUsage } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { malformed } from "../wire/malformed.ts";
import type { AnswerAssembly, AnswerDelta } from "../wire/read-answer.ts";
import { emptyDelta } from "../wire/read-answer.ts";
import { countIn, isCount } from "../wire/usage-count.ts";
import { ToolCallAssembly } from "./assemble-tool-calls.ts";
import type { Fields } from "../wire/merge-delta.ts";
import { isFields, mergeDelta, emptyFields } from "../wire/merge-delta.ts";

const apart = new Set(["role", "tool_calls"]);

/** Puts one turn together from the chunks of a streamed chat completion. */
export class TurnAssembly implements AnswerAssembly {
  readonly #message = emptyFields();
  readonly #toolCalls = new ToolCallAssembly();
  #finishReason = "";
  #usage: ModelUsage | undefined;
  #model = "";

  add(chunk: unknown): AnswerDelta {
    if (!isFields(chunk)) throw malformed("it is not an object");
    if (typeof chunk["model"] === "string" && chunk["model"] !== "") this.#model = chunk["model"];
    this.#usage = usageOf(chunk["usage"]) ?? this.#usage;
    const choices = chunk["choices"] ?? [];
    if (!Array.isArray(choices)) throw malformed("choices is not a list");
    const choice: unknown = choices[0];
    if (choice === undefined) return emptyDelta;
    if (!isFields(choice)) throw malformed("a choice is not an object");
    const finishReason = choice["finish_reason"];
    if (typeof finishReason === "string" && finishReason !== "") this.#finishReason = finishReason;
    const delta = choice["delta"] ?? {};
    if (!isFields(delta)) throw malformed("a delta is not an object");
    mergeDelta(this.#message, delta, apart);
    this.#toolCalls.add(delta["tool_calls"]);
    return { text: textOf(delta["content"]), reasoning: reasoningOf(delta) };
  }

  get isComplete(): boolean {
    return this.#finishReason !== "";
  }

  /** Usage comes after the reason to stop, and the end mark after that is none of the chunks. */
  get isEnded(): boolean {
    return false;
  }

  finish(upstreamName: string): ModelTurn {
    if (!this.isComplete) {
      throw new ModelFailure("unavailable", "the provider cut the answer before its end");
    }
    const { calls, verbatim } = this.#toolCalls.finish();
    const { content, refusal } = this.#message;
    const hasContent = content !== undefined && content !== null && content !== "";
    const isRefusal = typeof refusal === "string" && refusal !== "";
    if (!hasContent && calls.length === 0) {
      if (isRefusal) throw new ModelFailure("refused", `the model refuses: ${refusal}`);
      if (this.#finishReason === "content_filter") {
        throw new ModelFailure("refused", "the provider's content filter held the answer back");
      }
    }
    const message = {
      role: "assistant",
      ...this.#message,
      // A message without calls has a content, even one that says nothing.
      ...(calls.length === 0 && !hasContent && { content: "" }),
      ...(calls.length > 0 && { tool_calls: verbatim }),
    };
    return {
      messageJson: JSON.stringify(message),
      finishReason: isRefusal ? "refusal" : this.#finishReason,
      calls,
      usage: this.#usage,
      model: this.#model === "" ? upstreamName : this.#model,
    };
  }
}

/** Content is a text, or with some providers a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter(isFields)
    .map(({ type, text }) => (type === "text" && typeof text === "string" ? text : ""))
    .join("");
}

/** Two names for the same thing; a provider that sends both says it twice. */
function reasoningOf({ reasoning_content: content, reasoning }: Fields): string {
  if (typeof content === "string" && content !== "") return content;
  return typeof reasoning === "string" ? reasoning : "";
}

function usageOf(usage: unknown): ModelUsage | undefined {
  if (!isFields(usage)) return undefined;
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = usage;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return undefined;
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: countIn(usage["prompt_tokens_details"], "cached_tokens"),
    reasoningTokens: countIn(usage["completion_tokens_details"], "reasoning_tokens"),
  };
}
