import type { ToolDescriptor } from "@reeve/contracts/tool";

/** What a model is asked, without the model itself. The same request is counted, reserved for, and sent. */
export interface RenderedRequest {
  /** The system prompt. Empty: none. */
  readonly instructions: string;
  readonly messages: readonly PromptMessage[];
  /** The tools as the model sees them. Empty: a call without tools. */
  readonly tools: readonly ToolDescriptor[];
  /** Whether the model may call several tools in one turn. */
  readonly parallelToolCalls: boolean;
  /** Undefined: the default of the provider. */
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
}

/** One message of a prompt. */
export type PromptMessage =
  | {
      readonly role: "user";
      readonly text: string;
      /** Parts after the text, and before the notes. Absent: none. */
      readonly parts?: readonly PromptPart[];
      /** Notes of the runtime, each as a separate text part after the text. */
      readonly notes?: readonly string[];
    }
  /** An earlier answer that a client supplied as text. */
  | { readonly role: "assistant"; readonly text: string }
  /** An earlier turn, verbatim as in `ModelTurn.messageJson`. */
  | {
      readonly role: "verbatim";
      readonly messageJson: string;
      /** The format of `messageJson`. Absent: the format of the called provider. */
      readonly format?: string;
      /** The text and the calls of the message, for a provider with another format. */
      readonly text?: string;
      readonly calls?: readonly ModelToolCall[];
    }
  | {
      readonly role: "tool";
      readonly providerCallId: string;
      readonly name: string;
      readonly content: string;
      /** Images that the model reads with the content. Absent: none. */
      readonly files?: readonly PromptFile[];
      readonly isError: boolean;
      /** Notes of the runtime, each as a separate text part after the content. */
      readonly notes?: readonly string[];
    };

/** A part of a message of the user. */
export type PromptPart = { readonly kind: "text"; readonly text: string } | PromptFile;

/** A file that the model reads. */
export interface PromptFile {
  readonly kind: "file";
  readonly artifactId: string;
  readonly mediaType: string;
  readonly name: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** An estimate of the tokens of the file. */
  readonly tokens: number;
}

/** A complete answer. */
export interface ModelTurn {
  /** The assistant message as JSON, with all fields that the provider sent. */
  readonly messageJson: string;
  /** Why the model stopped: `stop`, `tool_calls`, `length`, `content_filter`, or another reason of the provider. */
  readonly finishReason: string;
  /** The calls in the order of the message, with the arguments as the model wrote them. */
  readonly calls: readonly ModelToolCall[];
  /** Undefined: the provider reported none. */
  readonly usage: ModelUsage | undefined;
  /** The provider's name of the model. */
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
  /** Input tokens that were read from the provider's cache. */
  readonly cachedInputTokens: number;
  /** Input tokens that were written to the provider's cache. */
  readonly cacheWriteInputTokens: number;
  readonly reasoningTokens: number;
  /** The cost in US dollars, if the provider reports it. Undefined: the price of the model decides. */
  readonly costUsd?: number | undefined;
}
