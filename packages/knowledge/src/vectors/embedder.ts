/** The vectors of texts, and what they cost. */
export interface Embeddings {
  /** One for each text, in their order, all of the same length. */
  readonly vectors: readonly (readonly number[])[];
  /** As the provider counts them. */
  readonly tokens: number;
  /** In US dollars. Undefined: the model has no price. */
  readonly costUsd: number | undefined;
}

/** Turns texts into vectors whose directions are close when their meanings are. */
export interface Embedder {
  /** `provider:model`. Vectors of models with different names are never compared. */
  readonly model: string;
  /**
   * Embeds at most 64 texts. Repeats what fails a few times at most. Throws a Failure of kind `invalid` when the model refuses one of the
   * texts, and of kind `unavailable` when it does not answer in `maxWaitMs`, or with something else than vectors. The users of all tenants
   * may read its message, so it has nothing of the texts and of what the provider says. Default of `maxWaitMs`: 45 seconds.
   */
  embed(texts: readonly string[], signal: AbortSignal, maxWaitMs?: number): Promise<Embeddings>;
}
