import type { ModelTurn, ModelUsage } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { malformed } from "../wire/malformed.ts";
import type { AnswerAssembly, AnswerDelta } from "../wire/read-answer.ts";
import { emptyDelta } from "../wire/read-answer.ts";
import { countIn, isCount } from "../wire/usage-count.ts";
import { ToolCallAssembly } from "./assemble-tool-calls.ts";
import type { Fields } from "../wire/merge-delta.ts";
import { isFields, mergeDelta, emptyFields } from "../wire/merge-delta.ts";

const assembledSeparately = new Set(["role", "tool_calls"]);

/** Assembles a turn from the chunks of a streamed chat completion. */
export class TurnAssembly implements AnswerAssembly {
  readonly #message = emptyFields();
  readonly #toolCalls = new ToolCallAssembly();
  #finishReason = "";
  #usage: ModelUsage | undefined;
  #model = "";
  #hasBegun = false;

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
    mergeDelta(this.#message, delta, assembledSeparately);
    this.#toolCalls.add(delta["tool_calls"]);
    const added = { text: textOf(delta["content"]), reasoning: reasoningOf(delta) };
    const hasCalls = Array.isArray(delta["tool_calls"]) && delta["tool_calls"].length > 0;
    this.#hasBegun ||= hasCalls || added.text !== "" || added.reasoning !== "";
    return added;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isComplete(): boolean {
    return this.#finishReason !== "";
  }

  /** Never: usage follows the finish reason, and the end mark is not a chunk. */
  get isEnded(): boolean {
    return false;
  }

  finish(upstreamName: string): ModelTurn {
    if (!this.isComplete) {
      throw new ModelFailure("unavailable", "the provider ended the answer before it was complete");
    }
    const { calls, verbatim } = this.#toolCalls.finish();
    const { content, refusal } = this.#message;
    const hasContent = content !== undefined && content !== null && content !== "";
    const isRefusal = typeof refusal === "string" && refusal !== "";
    if (!hasContent && calls.length === 0) {
      if (isRefusal) throw new ModelFailure("refused", `the model refuses: ${refusal}`);
      if (this.#finishReason === "content_filter") {
        throw new ModelFailure("refused", "the provider's content filter blocked the answer");
      }
    }
    const message = {
      role: "assistant",
      ...this.#message,
      // A message without calls must have content, even if it is empty.
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

/** Content is a string, or with some providers a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter(isFields)
    .map(({ type, text }) => (type === "text" && typeof text === "string" ? text : ""))
    .join("");
}

/** Two names for the same field. A provider that sends both repeats the text. */
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
    // Writes to the cache cost nothing extra here.
    cacheWriteInputTokens: 0,
    reasoningTokens: countIn(usage["completion_tokens_details"], "reasoning_tokens"),
  };
}
