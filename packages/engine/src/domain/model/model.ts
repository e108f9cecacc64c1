/** One message of a prompt. */
export type PromptMessage =
  | {
      readonly role: "user";
      readonly text: string;
      /** What the runtime says beside the text, each as a text part of its own after it. */
      readonly notes?: readonly string[];
    }
  /** An earlier answer that a client gave as text. */
  | { readonly role: "assistant"; readonly text: string }
  /** An earlier turn, verbatim as its provider gave it in `ModelTurn.messageJson`. */
  | {
      readonly role: "verbatim";
      readonly messageJson: string;
      /** The format of `messageJson`. Absent: that of the provider that is asked. */
      readonly format?: string;
      /** What the message said and called, for a provider of another format. */
      readonly text?: string;
      readonly calls?: readonly ModelToolCall[];
    }
  | {
      readonly role: "tool";
      readonly providerCallId: string;
      readonly name: string;
      readonly content: string;
      readonly isError: boolean;
      /** What the runtime says beside the content, each as a text part of its own after it. */
      readonly notes?: readonly string[];
    };

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
