import type { ModelSpec, ProviderDescriptor } from "@reeve/contracts/agent";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { ModelTurn, PromptMessage } from "../domain/model/model.ts";

export type { ModelToolCall, ModelTurn, ModelUsage, PromptMessage } from "../domain/model/model.ts";

/** A model as a stream: what it says while it says it, then the whole turn. */
export interface ModelProvider {
  readonly descriptor: ProviderDescriptor;
  /** The format of `ModelTurn.messageJson`, of which providers of the same API have the same. */
  readonly format: string;
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
  /** Whether the model may call several tools in one turn. */
  readonly parallelToolCalls: boolean;
  /** Undefined: the provider's default. */
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
}

export type ModelPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "turn"; readonly turn: ModelTurn };

export type ModelFailureReason =
  | "rate_limited"
  | "unavailable"
  | "context_overflow"
  | "refused"
  | "unauthenticated"
  | "invalid"
  | "malformed";

export interface ModelFailureOptions extends ErrorOptions {
  readonly retryAfterMs?: number | undefined;
  /** Default: as the reason has it. */
  readonly retryable?: boolean | undefined;
}

/** A model that gave no answer, and what may be done about it. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly reason: ModelFailureReason;
  /** How long the provider asked to wait before another attempt; undefined: it did not say. */
  readonly retryAfterMs: number | undefined;
  /** Whether another attempt of the same request may succeed. */
  readonly retryable: boolean;

  constructor(reason: ModelFailureReason, message: string, options: ModelFailureOptions = {}) {
    super(message, options);
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
    this.retryable = options.retryable ?? passing.has(reason);
  }
}

/** What passes by itself; of anything else another attempt would meet the same. */
const passing: ReadonlySet<ModelFailureReason> = new Set([
  "rate_limited",
  "unavailable",
  "malformed",
]);
