import type {
  CollectionRecord,
  DocumentText,
  StoredDocument,
} from "@reeve/contracts/extensions/knowledge";
import { fuseRanks } from "../vectors/fuse-ranks.ts";
import { VectorSet } from "../vectors/vector-set.ts";
import type { Match, PassagePlace } from "./passage-index.ts";
import { bytesOfText, ownBytes } from "./index-size.ts";
import { PassageIndex } from "./passage-index.ts";
import type { ReadObjects } from "./read-objects.ts";

/** What a search looks for. */
export interface IndexQuery {
  readonly text: string;
  /** The vector of the text. Undefined: only words are searched. */
  readonly vector?: Int8Array | undefined;
  readonly limit: number;
}

/** What a search found. */
export interface IndexMatches {
  readonly matches: readonly Match[];
  /** The documents whose vectors could not be compared with that of the query. 0 if it has none. */
  readonly withoutVectors: number;
  readonly documents: number;
}

/** A passage that is far down in one of two lists is seldom the best of both. */
const candidatesPerResult = 4;
const minCandidates = 40;

/** The words, and the vectors of one model, of the documents of a collection, in memory. Updates must not overlap. */
export class CollectionIndex {
  readonly #passages = new PassageIndex();
  readonly #vectors = new VectorSet();
  /** About the memory of the text of each object that the index has. */
  readonly #sizes = new Map<string, number>();
  /** The object with the vectors of each document, by the object with its text. */
  readonly #vectorObjects = new Map<string, string>();

  /** About the memory that the index takes. */
  get bytes(): number {
    return [...this.#sizes.values()].reduce(
      (sum, size) => sum + size,
      ownBytes + this.#vectors.bytes,
    );
  }

  /**
   * Makes the index that of a record. Vectors of another model than `model` are left out. Returns false, and changes nothing, when the
   * text of a document was removed since. Calls `onChange` before the first change: if the update then fails, the index is that of no record.
   */
  async update(
    { documents }: CollectionRecord,
    model: string | undefined,
    { read, onChange }: { readonly read: ReadObjects; readonly onChange: () => void },
    signal: AbortSignal,
  ): Promise<boolean> {
    const texts = new Map<StoredDocument, DocumentText>();
    for (const stored of documents) {
      signal.throwIfAborted();
      if (stored.document === undefined || this.#sizes.has(stored.object)) continue;
      const text = await read.text(stored.object, signal);
      if (text === undefined) return false;
      texts.set(stored, text);
    }
    onChange();
    const objects = new Set(documents.map(({ object }) => object));
    for (const known of [...this.#sizes.keys()].filter((object) => !objects.has(object))) {
      this.#sizes.delete(known);
      this.#dropVectors(known);
      await this.#passages.remove(known);
    }
    for (const [stored, text] of texts) {
      signal.throwIfAborted();
      await this.#addText(stored, text);
    }
    for (const stored of documents) await this.#addVectors(stored, model, read, signal);
    return true;
  }

  async search({ text, vector, limit }: IndexQuery): Promise<IndexMatches> {
    const documents = this.#sizes.size;
    if (vector === undefined) {
      const matches = this.#passages.search(text, limit).map(({ match }) => match);
      return { matches, withoutVectors: 0, documents };
    }
    const candidates = Math.max(limit * candidatesPerResult, minCandidates);
    const found = this.#passages.search(text, candidates);
    const near = await this.#vectors.search(vector, candidates);
    const fused = fuseRanks<PassagePlace>(
      [found, near],
      ({ object, ordinal }) => `${object} ${ordinal}`,
    );
    const matches = fused
      .slice(0, limit)
      .flatMap(({ item, score }) => this.#passages.at(item, score) ?? []);
    const objects = [...this.#sizes.keys()];
    const missing = objects.filter((object) => !this.#vectors.has(object, vector.length));
    return { matches, withoutVectors: missing.length, documents };
  }

  [Symbol.dispose](): void {
    this.#passages[Symbol.dispose]();
  }

  async #addText({ document, object }: StoredDocument, { passages }: DocumentText): Promise<void> {
    if (document === undefined) return;
    await this.#passages.add(object, document, passages);
    this.#sizes.set(object, bytesOfText(Number(document.textBytes), passages.length));
  }

  async #addVectors(
    { object, vectors }: StoredDocument,
    model: string | undefined,
    read: ReadObjects,
    signal: AbortSignal,
  ): Promise<void> {
    if (vectors === undefined || vectors.model !== model) return this.#dropVectors(object);
    if (this.#vectorObjects.get(object) === vectors.object) return;
    const values = await read.vectors(vectors.object, signal);
    // Replaced since: the next search has the others.
    if (values === undefined) return;
    this.#vectors.set(object, values, vectors.dimensions);
    this.#vectorObjects.set(object, vectors.object);
  }

  #dropVectors(object: string): void {
    this.#vectors.delete(object);
    this.#vectorObjects.delete(object);
  }
}
