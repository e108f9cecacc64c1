import type { Embedder } from "./embedder.ts";

/** Counts the tokens of an embedder, also of what is not used in the end. */
export class CountingEmbedder implements Embedder {
  readonly #embedder: Embedder;
  tokens = 0;

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  get model(): string {
    return this.#embedder.model;
  }

  async embed(...request: Parameters<Embedder["embed"]>) {
    const embedded = await this.#embedder.embed(...request);
    this.tokens += embedded.tokens;
    return embedded;
  }
}
