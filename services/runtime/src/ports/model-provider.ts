import type { ModelSpec, ProviderDescriptor } from "@reeve/contracts/agent";
import type { ToolDescriptor } from "@reeve/contracts/tool";

/** A model as a stream: what it says while it says it, then the whole turn. */
export interface ModelProvider {
  readonly descriptor: ProviderDescriptor;
  /**
   * Calls the model once. Yields parts as they come and exactly one `turn` as the last value. Throws a ModelFailure when
   * no answer can be had, and the signal's reason when `signal` aborts; retrying is the caller's business.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
}

export interface ModelRequest {
  readonly model: ModelSpec;
  /** The system prompt; empty: none. */
  readonly instructions: string;
  readonly messages: readonly PromptMessage[];
  /** The tools as the model sees them. Empty: it is called without tools. */
  readonly tools: readonly ToolDescriptor[];
  /** Undefined: the provider's default. */
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
}

export type PromptMessage =
  | { readonly role: "user"; readonly text: string }
  /** An earlier answer that a client gave as text. */
  | { readonly role: "assistant"; readonly text: string }
  /** An earlier turn of this provider, verbatim as it gave it in `ModelTurn.messageJson`. */
  | { readonly role: "verbatim"; readonly messageJson: string }
  | {
      readonly role: "tool";
      readonly providerCallId: string;
      readonly name: string;
      readonly content: string;
      readonly isError: boolean;
    };

export type ModelPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "turn"; readonly turn: ModelTurn };

/** A whole answer. */
export interface ModelTurn {
  /** The assistant message as JSON, with every field that the provider sent. */
  readonly messageJson: string;
  /** The provider's word: `stop`, `tool_calls`, `length`, `content_filter`. */
  readonly finishReason: string;
  /** The calls in the order of the message, their arguments as the model wrote them. */
  readonly calls: readonly ModelToolCall[];
  /** Undefined: the provider did not tell. */
  readonly usage: ModelUsage | undefined;
  /** The model as the provider names it. */
  readonly model: string;
}

export interface ModelToolCall {
  readonly providerCallId: string;
  readonly name: string;
  readonly argumentsText: string;
}

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
}

export type ModelFailureReason =
  | "rate_limited"
  | "unavailable"
  | "context_overflow"
  | "refused"
  | "unauthenticated"
  | "invalid"
  | "malformed";

/** A model that gave no answer, and what may be done about it. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly reason: ModelFailureReason;
  /** How long the provider asked to wait before another attempt; undefined: it did not say. */
  readonly retryAfterMs: number | undefined;

  constructor(
    reason: ModelFailureReason,
    message: string,
    options: ErrorOptions & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Whether another attempt of the same request may succeed. */
  get retryable(): boolean {
    return ["rate_limited", "unavailable", "malformed"].includes(this.reason);
  }
}
