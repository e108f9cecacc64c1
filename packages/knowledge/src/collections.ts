import { create, fromBinary } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import type {
  Collection,
  CollectionRecord,
  Passage,
  Retrieval,
} from "@reeve/contracts/extensions/knowledge";
import {
  DocumentTextSchema,
  DocumentVectorsSchema,
  PassageSchema,
  Ranking,
  RetrievalSchema,
} from "@reeve/contracts/extensions/knowledge";
import type { Objects } from "@reeve/jetstream/objects/port";
import type { Row, Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";
import type { IndexMatches } from "./index/collection-index.ts";
import { IndexCache } from "./index/index-cache.ts";
import {
  collectionNotFound,
  keyOf,
  nowRestricted,
  shown,
  validId,
} from "./records/collection-record.ts";
import { maxIndexBytes } from "./records/knowledge-limits.ts";
import type { KnowledgeUser } from "./records/knowledge-user.ts";
import { isRestricted, mayRead } from "./records/knowledge-user.ts";
import { embedQuery } from "./vectors/embed-query.ts";
import type { EmbeddedQuery } from "./vectors/embed-query.ts";
import type { Embedder } from "./vectors/embedder.ts";

export type { KnowledgeUser } from "./records/knowledge-user.ts";

/** What a search looks for. */
export interface KnowledgeQuery {
  readonly collectionIds: readonly string[];
  readonly query: string;
  /** The maximum number of passages. */
  readonly limit: number;
  /**
   * Whether others than the user see what is found. A collection with readers of its own is then refused, as one that does not exist.
   * Default: false.
   */
  readonly isShared?: boolean;
}

/** What a search found, and how. */
export interface FoundPassages {
  /** Best match first. */
  readonly passages: readonly Passage[];
  readonly retrieval: Retrieval;
}

/** The stores of collections. */
export interface KnowledgeStores {
  readonly table: Table<CollectionRecord>;
  readonly objects: Objects;
}

const maxAttempts = 5;

/** The collections of tenants, for those who search them. */
export class Collections {
  protected readonly table: Table<CollectionRecord>;
  protected readonly objects: Objects;
  protected readonly embedder: Embedder | undefined;
  readonly #indexes: IndexCache;

  /** Without an embedder, only words are searched. */
  constructor({ table, objects }: KnowledgeStores, embedder?: Embedder) {
    this.table = table;
    this.objects = objects;
    this.embedder = embedder;
    this.#indexes = new IndexCache(
      {
        text: async (object, signal) => {
          const bytes = await this.#bytesOf(object, signal);
          return bytes && fromBinary(DocumentTextSchema, bytes);
        },
        vectors: async (object, signal) => {
          const bytes = await this.#bytesOf(object, signal);
          if (bytes === undefined) return undefined;
          const { values } = fromBinary(DocumentVectorsSchema, bytes);
          return new Int8Array(values);
        },
      },
      { model: embedder?.model, maxBytes: maxIndexBytes },
    );
  }

  /**
   * Returns the passages of collections that match a query. Finds every document that was added before the call, at least by its words.
   * Throws a Failure of kind `not_found` if the user may not read one of the collections, or if it does not exist. An embedder that fails
   * is a warning of the result.
   */
  async search(
    user: KnowledgeUser,
    { collectionIds, query, limit, isShared = false }: KnowledgeQuery,
    signal: AbortSignal,
  ): Promise<FoundPassages> {
    const ids = [...new Set(collectionIds)];
    const rows: Row<CollectionRecord>[] = [];
    for (const collectionId of ids) {
      rows.push(await this.#searchable(user, { collectionId, isShared }, signal));
    }
    const embedded = await embedQuery(this.embedder, rows, query, signal);
    for (const row of rows) this.noticed(row, embedded.vector?.length);
    const found: { readonly rank: number; readonly passage: Passage }[] = [];
    const warnings = embedded.warning === undefined ? [] : [embedded.warning];
    for (const [index, collectionId] of ids.entries()) {
      const wanted = { text: query, vector: embedded.vector, limit };
      const first = rows[index];
      const searched = { collectionId, isShared, first, wanted };
      const matched = await this.#searchOne(user, searched, signal);
      const passages = matched.matches.map((each) =>
        create(PassageSchema, { ...each, collectionId }),
      );
      found.push(...passages.map((passage, rank) => ({ rank, passage })));
      if (matched.withoutVectors > 0) warnings.push(incomplete(collectionId, matched));
    }
    // Scores depend on the size of a collection, so ranks decide between collections.
    const ordered = found.toSorted((a, b) => a.rank - b.rank || b.passage.score - a.passage.score);
    const passages = ordered.slice(0, limit).map(({ passage }) => passage);
    return { passages, retrieval: retrievalOf(embedded, warnings) };
  }

  /** Returns a collection that the user may search. Throws a Failure of kind `not_found` otherwise. */
  async readable(
    user: KnowledgeUser,
    collectionId: string,
    signal: AbortSignal,
  ): Promise<Collection> {
    const row = await this.readableRow(user, collectionId, signal);
    this.noticed(row);
    return shown(row.record);
  }

  /** Called with each collection that somebody uses, and with the number of values of vectors, if that is known. */
  protected noticed(_row: Row<CollectionRecord>, _dimensions?: number): void {}

  protected async readableRow(
    user: KnowledgeUser,
    collectionId: string,
    signal: AbortSignal,
  ): Promise<Row<CollectionRecord>> {
    const row = await this.row(user, collectionId, signal);
    if (row !== undefined && mayRead(user, row.record)) return row;
    if (row === undefined) this.#indexes.forget(keyOf(user.tenant, collectionId));
    throw collectionNotFound(collectionId);
  }

  protected async row(
    { tenant }: KnowledgeUser,
    collection: string,
    signal: AbortSignal,
  ): Promise<Row<CollectionRecord> | undefined> {
    if (!validId.test(collection)) return undefined;
    return await this.table.get(keyOf(tenant, collection), signal);
  }

  async #searchable(
    user: KnowledgeUser,
    { collectionId, isShared }: { readonly collectionId: string; readonly isShared: boolean },
    signal: AbortSignal,
  ): Promise<Row<CollectionRecord>> {
    const row = await this.readableRow(user, collectionId, signal);
    if (isShared && isRestricted(row.record.collection)) throw nowRestricted(collectionId);
    return row;
  }

  async #searchOne(
    user: KnowledgeUser,
    {
      collectionId,
      isShared,
      first,
      wanted,
    }: {
      readonly collectionId: string;
      readonly isShared: boolean;
      readonly first: Row<CollectionRecord> | undefined;
      readonly wanted: Parameters<IndexCache["search"]>[1];
    },
    signal: AbortSignal,
  ): Promise<IndexMatches> {
    const read = () => this.#searchable(user, { collectionId, isShared }, signal);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const row = (attempt === 0 ? first : undefined) ?? (await read());
      const isConfirmed = attempt > 0;
      const matches = await this.#indexes.search({ row, isConfirmed }, wanted, signal);
      if (matches !== undefined) return matches;
    }
    throw new Failure(
      "unavailable",
      ErrorReason.UNAVAILABLE,
      `collection ${collectionId} changes too often to be searched, or the text of a document is missing from the store; try again, and add the documents again if this repeats`,
    );
  }

  async #bytesOf(object: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const chunks = await this.objects.read(object, signal);
    return chunks && Buffer.concat(await Array.fromAsync(chunks));
  }
}

function incomplete(collectionId: string, { withoutVectors, documents }: IndexMatches): string {
  return `${withoutVectors} of ${documents} documents of collection ${collectionId} have no embeddings of this model yet, and are found by their words only`;
}

function retrievalOf(
  { vector, model, tokens, costUsd }: EmbeddedQuery,
  warnings: readonly string[],
): Retrieval {
  return create(RetrievalSchema, {
    ranking: vector === undefined ? Ranking.BM25 : Ranking.HYBRID,
    embeddingModel: model,
    embeddingTokens: BigInt(tokens),
    ...(costUsd !== undefined && { embeddingCostUsd: costUsd }),
    warnings: [...warnings],
  });
}
