import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type {
  AddDocumentRequestSchema,
  AddDocumentResponse,
  Collection,
  CreateCollectionRequestSchema,
  Document,
  RefreshDocumentResponse,
  SearchCollectionsResponse,
  UpdateCollectionRequestSchema,
} from "#contracts/extensions/knowledge";
import { CollectionSchema } from "#contracts/extensions/knowledge";
import type { CallOptions, ListOptions } from "../call-options.ts";
import type { Requests } from "../requests.ts";

/** Reading a large document takes longer than other requests. */
const addTimeoutMs = 120_000;

/** Collections of documents, which runs search. */
export class Knowledge {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Creates an empty collection. Not repeated if the connection breaks. */
  async create(
    request: MessageInitShape<typeof CreateCollectionRequestSchema>,
    options: CallOptions = {},
  ): Promise<Collection> {
    const { collection } = await this.#requests.once(
      ({ knowledge }, call) => knowledge.createCollection(request, call),
      options,
    );
    return collection ?? create(CollectionSchema);
  }

  /** Returns a collection. */
  async get(collectionId: string, options: CallOptions = {}): Promise<Collection> {
    const { collection } = await this.#requests.repeatable(
      ({ knowledge }, call) => knowledge.getCollection({ collectionId }, call),
      options,
    );
    return collection ?? create(CollectionSchema);
  }

  /**
   * Changes what the mask of the request names, or without a mask what the request sets. Nothing else changes. Not repeated if the
   * connection breaks.
   */
  async update(
    request: MessageInitShape<typeof UpdateCollectionRequestSchema>,
    options: CallOptions = {},
  ): Promise<Collection> {
    const { collection } = await this.#requests.once(
      ({ knowledge }, call) => knowledge.updateCollection(request, call),
      options,
    );
    return collection ?? create(CollectionSchema);
  }

  /** Lists the collections that the caller may read, by id. */
  list(options: ListOptions = {}): AsyncGenerator<Collection, void, undefined> {
    return this.#requests.list(async ({ knowledge }, page, call) => {
      const { collections: items, nextPageToken } = await knowledge.listCollections(page, call);
      return { items, nextPageToken };
    }, options);
  }

  /** Deletes a collection with its documents. Not repeated if the connection breaks. */
  async delete(collectionId: string, options: CallOptions = {}): Promise<void> {
    await this.#requests.once(
      ({ knowledge }, call) => knowledge.deleteCollection({ collectionId }, call),
      options,
    );
  }

  /** Adds a document, in place of one with the same name. May take two minutes. */
  async addDocument(
    request: MessageInitShape<typeof AddDocumentRequestSchema>,
    options: CallOptions = {},
  ): Promise<AddDocumentResponse> {
    return await this.#requests.repeatable(
      ({ knowledge }, call) => knowledge.addDocument(request, call),
      options,
      addTimeoutMs,
    );
  }

  /**
   * Fetches a document that was added from a URL again, and replaces it if it has changed. May take two minutes. Not repeated if the
   * connection breaks.
   */
  async refreshDocument(
    collectionId: string,
    documentId: string,
    options: CallOptions = {},
  ): Promise<RefreshDocumentResponse> {
    const request = { collectionId, documentId };
    return await this.#requests.once(
      ({ knowledge }, call) => knowledge.refreshDocument(request, call),
      options,
      addTimeoutMs,
    );
  }

  /** Lists the documents of a collection, by name. */
  documents(
    collectionId: string,
    options: ListOptions = {},
  ): AsyncGenerator<Document, void, undefined> {
    return this.#requests.list(async ({ knowledge }, page, call) => {
      const request = { ...page, collectionId };
      const { documents: items, nextPageToken } = await knowledge.listDocuments(request, call);
      return { items, nextPageToken };
    }, options);
  }

  /** Removes a document. Not repeated if the connection breaks. */
  async deleteDocument(
    collectionId: string,
    documentId: string,
    options: CallOptions = {},
  ): Promise<void> {
    const request = { collectionId, documentId };
    await this.#requests.once(
      ({ knowledge }, call) => knowledge.deleteDocument(request, call),
      options,
    );
  }

  /** Returns the passages that match a query, best match first. `limit` is 10 by default, at most 50. */
  async search(
    collectionIds: readonly string[],
    query: string,
    options: ListOptions = {},
  ): Promise<SearchCollectionsResponse> {
    const request = { collectionIds: [...collectionIds], query, limit: options.limit ?? 0 };
    return await this.#requests.repeatable(
      ({ knowledge }, call) => knowledge.searchCollections(request, call),
      options,
    );
  }
}
