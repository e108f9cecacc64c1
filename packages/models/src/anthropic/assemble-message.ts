import type { ModelToolCall, ModelTurn, ModelUsage } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { distinctIds } from "../wire/call-ids.ts";
import { malformed } from "../wire/malformed.ts";
import type { Fields } from "../wire/merge-delta.ts";
import { isFields } from "../wire/merge-delta.ts";
import type { AnswerAssembly, AnswerDelta } from "../wire/read-answer.ts";
import { emptyDelta } from "../wire/read-answer.ts";
import { fieldsIn } from "../wire/read-fields.ts";
import { countIn, isCount } from "../wire/usage-count.ts";
import { ContentBlock } from "./content-block.ts";

/** The finish reasons of chat completions for those of the API. All others are kept as they are. */
const finishReasons: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
};

/** Assembles a turn from the events of the Messages API. */
export class MessageAssembly implements AnswerAssembly {
  readonly #blocks = new Map<number, ContentBlock>();
  readonly #usage: Fields = {};
  #stopReason = "";
  #explanation = "";
  #model = "";
  #isEnded = false;

  add(event: unknown): AnswerDelta {
    if (!isFields(event)) throw malformed("it is not an object");
    switch (event["type"]) {
      case "message_start": {
        const message = fieldsIn(event, "message");
        if (typeof message["model"] === "string") this.#model = message["model"];
        this.#addUsage(message["usage"]);
        return emptyDelta;
      }
      case "content_block_start": {
        const block = new ContentBlock(fieldsIn(event, "content_block"));
        this.#blocks.set(indexOf(event), block);
        return block.firstDelta;
      }
      case "content_block_delta": {
        const block = this.#blocks.get(indexOf(event));
        if (block === undefined) throw malformed("a delta comes before its block");
        return block.add(fieldsIn(event, "delta"));
      }
      case "message_delta":
        this.#stop(fieldsIn(event, "delta"));
        this.#addUsage(event["usage"]);
        return emptyDelta;
      case "message_stop":
        this.#isEnded = true;
        return emptyDelta;
      default:
        // Pings, ends of blocks, and events that the API may add.
        return emptyDelta;
    }
  }

  get hasBegun(): boolean {
    return this.#blocks.size > 0;
  }

  get isComplete(): boolean {
    return this.#stopReason !== "";
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  finish(upstreamName: string): ModelTurn {
    if (!this.isComplete) {
      throw new ModelFailure("unavailable", "the provider ended the answer before it was complete");
    }
    // Also if there is some text: the API refuses every conversation that contains a refused turn.
    if (this.#stopReason === "refusal") {
      const why = this.#explanation === "" ? "it does not say why" : this.#explanation;
      throw new ModelFailure("refused", `the model refuses: ${why}`);
    }
    const inOrder = [...this.#blocks].toSorted(([one], [other]) => one - other);
    const { content, calls } = withDistinctIds(inOrder.map(([, block]) => block));
    return {
      messageJson: JSON.stringify({ role: "assistant", content }),
      finishReason: finishReasons[this.#stopReason] ?? this.#stopReason,
      calls,
      usage: usageOf(this.#usage),
      model: this.#model === "" ? upstreamName : this.#model,
    };
  }

  #stop({ stop_reason: reason, stop_details: details }: Fields): void {
    if (typeof reason === "string") this.#stopReason = reason;
    const explanation = isFields(details) ? details["explanation"] : undefined;
    if (typeof explanation === "string") this.#explanation = explanation;
  }

  /** Counts are totals, so a later one replaces an earlier one. */
  #addUsage(usage: unknown): void {
    if (!isFields(usage)) return;
    for (const [key, value] of Object.entries(usage)) {
      if (value !== null) this.#usage[key] = value;
    }
  }
}

/** Returns the calls among the blocks with distinct ids, and the blocks with the same ids. */
function withDistinctIds(blocks: readonly ContentBlock[]): {
  readonly content: readonly Fields[];
  readonly calls: readonly ModelToolCall[];
} {
  const called = blocks.filter(({ isCall }) => isCall);
  const ids = distinctIds(called.map(({ id }) => id));
  const calls = called.map(({ name, argumentsText }, position) => {
    if (name === "") throw malformed("a tool call has no name");
    return { providerCallId: ids[position] ?? "", name, argumentsText };
  });
  const content = blocks.map((block) => {
    const position = called.indexOf(block);
    return position === -1 ? block.complete : { ...block.complete, id: ids[position] };
  });
  return { content, calls };
}

/** Tokens that are read from or written to the cache are parts of the input tokens, as with other providers. */
function usageOf(usage: Fields): ModelUsage | undefined {
  const { input_tokens: fresh, output_tokens: outputTokens } = usage;
  if (!isCount(fresh) || !isCount(outputTokens)) return undefined;
  const cachedInputTokens = countIn(usage, "cache_read_input_tokens");
  const cacheWriteInputTokens = countIn(usage, "cache_creation_input_tokens");
  return {
    inputTokens: fresh + cachedInputTokens + cacheWriteInputTokens,
    outputTokens,
    cachedInputTokens,
    cacheWriteInputTokens,
    reasoningTokens: countIn(usage["output_tokens_details"], "thinking_tokens"),
  };
}

function indexOf({ index }: Fields): number {
  if (typeof index !== "number") throw malformed("a block has no index");
  return index;
}
