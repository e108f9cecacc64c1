import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Embedder } from "../src/vectors/embedder.ts";

/** Words with a common meaning. */
const meanings = [
  ["vacation", "holiday", "leave"],
  ["train", "rail"],
  ["flight", "plane"],
];

/** An embedder that knows the meanings of a few words: each is a direction. Fails while `problem` is set. */
export class SynonymEmbedder implements Embedder {
  readonly model: string;
  /** The texts that were embedded. */
  readonly texts: string[] = [];
  problem = "";
  readonly #extra: number;

  /** `extra` is by how many values its vectors are longer. */
  constructor(model = "test:synonyms", extra = 0) {
    this.model = model;
    this.#extra = extra;
  }

  async embed(texts: readonly string[], signal: AbortSignal) {
    signal.throwIfAborted();
    if (this.problem !== "") {
      throw new Failure("unavailable", ErrorReason.UNAVAILABLE, this.problem);
    }
    this.texts.push(...texts);
    const vectors = texts.map((text) => this.#vectorOf(text.toLowerCase()));
    return { vectors, tokens: texts.length, costUsd: texts.length / 1_000 };
  }

  #vectorOf(text: string): readonly number[] {
    const extra = Array.from({ length: this.#extra }, () => 0);
    return [
      ...meanings.map((words) => words.filter((word) => text.includes(word)).length),
      0.01,
      ...extra,
    ];
  }
}
