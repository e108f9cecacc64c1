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
   * Embeds at most 64 texts. Repeats what fails a few times at most. Throws a Failure, whose message people may read, when the
   * model does not answer, refuses, or answers with something else than vectors.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Embeddings>;
}
