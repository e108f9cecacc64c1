import type { ModelToolCall, ModelTurn, ModelUsage } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { distinctIds } from "../wire/call-ids.ts";
import { malformed } from "../wire/malformed.ts";
import type { Fields } from "../wire/merge-delta.ts";
import { isFields } from "../wire/merge-delta.ts";
import type { ProviderFailures } from "../wire/provider-failures.ts";
import type { AnswerAssembly, AnswerDelta } from "../wire/read-answer.ts";
import { emptyDelta } from "../wire/read-answer.ts";
import { fieldsIn, textIn } from "../wire/read-fields.ts";
import { countIn, isCount } from "../wire/usage-count.ts";
import { textInParts } from "./output-items.ts";

/** Assembles a turn from the events of the Responses API. */
export class ResponseAssembly implements AnswerAssembly {
  readonly #failures: ProviderFailures;
  readonly #items = new Map<number, Fields>();
  #last: Fields | undefined;
  #model = "";
  #hasText = false;

  constructor(failures: ProviderFailures) {
    this.#failures = failures;
  }

  add(event: unknown): AnswerDelta {
    if (!isFields(event)) throw malformed("it is not an object");
    switch (event["type"]) {
      case "response.created":
      case "response.in_progress":
        this.#takeModel(fieldsIn(event, "response"));
        return emptyDelta;
      case "response.output_item.added":
      case "response.output_item.done":
        this.#items.set(this.#indexOf(event), { ...fieldsIn(event, "item") });
        return emptyDelta;
      case "response.function_call_arguments.delta":
        this.#addArguments(event);
        return emptyDelta;
      case "response.output_text.delta":
        this.#hasText = true;
        return { text: deltaOf(event), reasoning: "" };
      case "response.reasoning_summary_part.added":
        return { text: "", reasoning: event["summary_index"] === 0 ? "" : "\n\n" };
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return { text: "", reasoning: deltaOf(event) };
      case "response.completed":
      case "response.incomplete":
        this.#last = fieldsIn(event, "response");
        this.#takeModel(this.#last);
        return this.#hasText
          ? emptyDelta
          : { text: textOf(this.#output(this.#last)), reasoning: "" };
      case "response.failed":
        throw this.#failures.ofReport(fieldsIn(event, "response")["error"]);
      default:
        // The API may add events. The items repeat everything that matters.
        return emptyDelta;
    }
  }

  get hasBegun(): boolean {
    return this.#items.size > 0 || this.#hasText;
  }

  get isComplete(): boolean {
    return this.#last !== undefined;
  }

  get isEnded(): boolean {
    return this.isComplete;
  }

  finish(upstreamName: string): ModelTurn {
    if (this.#last === undefined) {
      throw new ModelFailure("unavailable", "the provider ended the answer before it was complete");
    }
    const { output, calls } = withDistinctIds(this.#output(this.#last));
    const refusal = output.map((item) => textInParts(item, "refusal", "refusal")).join("");
    const stopped = reasonToStop(this.#last);
    if (textOf(output) === "" && calls.length === 0) {
      if (refusal !== "") throw new ModelFailure("refused", `the model refuses: ${refusal}`);
      if (stopped === "content_filter") {
        throw new ModelFailure("refused", "the provider's content filter blocked the answer");
      }
    }
    return {
      messageJson: JSON.stringify({ output }),
      finishReason:
        refusal === "" ? (stopped ?? (calls.length > 0 ? "tool_calls" : "stop")) : "refusal",
      calls,
      usage: usageOf(this.#last["usage"]),
      model: this.#model === "" ? upstreamName : this.#model,
    };
  }

  /** Returns the items of the last event. Some servers send them only one by one before it. */
  #output(last: Fields): readonly Fields[] {
    const items: unknown = last["output"];
    if (Array.isArray(items) && items.length > 0) {
      return items.map((item: unknown) => {
        if (!isFields(item)) throw malformed("an output item is not an object");
        return item;
      });
    }
    const byIndex = [...this.#items].toSorted(([one], [other]) => one - other);
    return byIndex.map(([, item]) => item);
  }

  #takeModel({ model }: Fields): void {
    if (typeof model === "string" && model !== "") this.#model = model;
  }

  #indexOf(event: Fields): number {
    const index = event["output_index"];
    if (typeof index !== "number") throw malformed("an output item has no index");
    return index;
  }

  #addArguments(event: Fields): void {
    const item = this.#items.get(this.#indexOf(event));
    if (item === undefined) throw malformed("arguments come before their call");
    item["arguments"] = textIn(item, "arguments") + deltaOf(event);
  }
}

function textOf(items: readonly Fields[]): string {
  return items.map((item) => textInParts(item, "output_text", "text")).join("");
}

/** Returns the calls among the items with distinct ids, and the items with the same ids. */
function withDistinctIds(items: readonly Fields[]): {
  readonly output: readonly Fields[];
  readonly calls: readonly ModelToolCall[];
} {
  const called = items.filter(({ type }) => type === "function_call");
  const ids = distinctIds(called.map((item) => textIn(item, "call_id")));
  const calls = called.map((item, position) => {
    const name = textIn(item, "name");
    if (name === "") throw malformed("a tool call has no name");
    return { providerCallId: ids[position] ?? "", name, argumentsText: textIn(item, "arguments") };
  });
  const output = items.map((item) => {
    const position = called.indexOf(item);
    return position === -1 ? item : { ...item, call_id: ids[position] };
  });
  return { output, calls };
}

/** Returns why the answer was cut, as a finish reason of chat completions; undefined if it was not. */
function reasonToStop({ incomplete_details: details }: Fields): string | undefined {
  if (!isFields(details)) return undefined;
  const reason = textIn(details, "reason");
  return reason === "max_output_tokens" || reason === "" ? "length" : reason;
}

function usageOf(usage: unknown): ModelUsage | undefined {
  if (!isFields(usage)) return undefined;
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return undefined;
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: countIn(usage["input_tokens_details"], "cached_tokens"),
    // Writes to the cache cost nothing extra here.
    cacheWriteInputTokens: 0,
    reasoningTokens: countIn(usage["output_tokens_details"], "reasoning_tokens"),
  };
}

function deltaOf({ delta }: Fields): string {
  if (typeof delta !== "string") throw malformed("a delta is not a string");
  return delta;
}
