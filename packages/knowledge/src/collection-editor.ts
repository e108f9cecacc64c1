import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { Collection, CollectionRecord, Document } from "@reeve/contracts/extensions/knowledge";
import { CollectionRecordSchema, CollectionSchema } from "@reeve/contracts/extensions/knowledge";
import type { Row } from "@reeve/jetstream/table/port";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { Failure } from "@reeve/platform/failure";
import type { KnowledgeStores } from "./collections.ts";
import { Collections } from "./collections.ts";
import type { AddedDocument } from "./documents/document-adder.ts";
import { DocumentAdder } from "./documents/document-adder.ts";
import type { DocumentDraft, IntakeOptions } from "./documents/document-intake.ts";
import { busy } from "./documents/document-intake.ts";
import type { DocumentRoom } from "./documents/document-room.ts";
import { unlimitedRoom } from "./documents/document-room.ts";
import { removeObjects } from "./documents/remove-objects.ts";
import {
  changeableRow,
  changeCollection,
  replaceDocuments,
  visibleRow,
} from "./records/change-collection.ts";
import { keyOf, objectsOf, shown, shownDocument } from "./records/collection-record.ts";
import { documentNotFound, revisionConflict } from "./records/editor-failures.ts";
import { assertRoomForCollections, isNearlyFull } from "./records/knowledge-limits.ts";
import type { KnowledgeUser } from "./records/knowledge-user.ts";
import { maySee } from "./records/knowledge-user.ts";
import type { VectorRefresher } from "./vectors/vector-refresher.ts";

/** A document, and the object with its text, which another version of the document does not have. */
interface ChangeableDocument {
  readonly document: Document;
  readonly object: string;
}

/** What the creator of a collection decides. */
export interface CollectionDraft extends Pick<Collection, "collectionId" | "title" | "readers"> {
  /** Default: none. */
  readonly readerGroups?: string[];
}

/** A change of what the creator of a collection decides. What is left out stays as it is. */
export interface CollectionChange extends Partial<Omit<CollectionDraft, "collectionId">> {
  readonly collectionId: string;
  /** The revision that the change is based on. Default: any. */
  readonly revision?: number | undefined;
}

interface EditorOptions extends IntakeOptions {
  readonly now: () => number;
  /** The room that the operator gives. Default: no limit besides those of collections. */
  readonly room?: DocumentRoom | undefined;
  /** Embeds later what has no embeddings of the model of now. Default: nothing does. */
  readonly refresher?: Pick<VectorRefresher, "notice"> | undefined;
}

/** The collections of tenants, for those who change them too. */
export class CollectionEditor extends Collections {
  readonly #options: EditorOptions;
  readonly #adder: DocumentAdder;
  /** A list has the records of all documents of the tenant. */
  readonly #lists = new KeyedSemaphore({ permits: 2, permitsPerKey: 1, maxWaitingPerKey: 1_000 });

  constructor(stores: KnowledgeStores, options: EditorOptions) {
    super(stores, options.embedder);
    this.#options = options;
    this.#adder = new DocumentAdder(stores, { ...options, room: options.room ?? unlimitedRoom });
  }

  /** Creates an empty collection. Throws a Failure of kind `exists` if there is one with this id. */
  async create(
    { tenant, subject }: KnowledgeUser,
    draft: CollectionDraft,
    signal: AbortSignal,
  ): Promise<Collection> {
    const now = timestampFromMs(this.#options.now());
    const { collectionId } = draft;
    const key = keyOf(tenant, collectionId);
    const collection = { ...draft, createdBy: subject, createdAt: now, updatedAt: now };
    const record = create(CollectionRecordSchema, { collection });
    using _ = await this.#listPermit(tenant, signal);
    const listed = await this.table.list(tenant, signal);
    if (!listed.some((each) => each.key === key)) assertRoomForCollections(listed.length + 1);
    const row = await this.table.create(key, record, signal);
    if (row !== undefined) {
      if (isNearlyFull(listed.length)) await this.#assertStillRoom(tenant, row, signal);
      return shown(row.record);
    }
    const message = `collection ${collectionId} exists already; add documents to it, or choose another id`;
    throw new Failure("exists", ErrorReason.COLLECTION_EXISTS, message, {
      metadata: { collection_id: collectionId },
    });
  }

  /** Returns a collection with its documents. Throws a Failure of kind `not_found` if the user may not know of it. */
  async get(
    user: KnowledgeUser,
    collectionId: string,
    signal: AbortSignal,
  ): Promise<{ readonly collection: Collection; readonly documents: readonly Document[] }> {
    const { record } = await visibleRow(this.table, { user, collectionId }, signal);
    return { collection: shown(record), documents: record.documents.map(shownDocument) };
  }

  /** Returns the collections of which the user may know, by id. */
  async list(user: KnowledgeUser, signal: AbortSignal): Promise<readonly Collection[]> {
    const rows = await this.#listed(user.tenant, signal);
    return rows
      .map(({ record }) => record)
      .filter((record) => maySee(user, record))
      .map(shown)
      .toSorted((a, b) => (a.collectionId < b.collectionId ? -1 : 1));
  }

  /** Changes the title and the readers of a collection. Throws a Failure with reason REVISION_CONFLICT if it has another revision. */
  async update(
    user: KnowledgeUser,
    { collectionId, revision: expected, ...changed }: CollectionChange,
    signal: AbortSignal,
  ): Promise<Collection> {
    const of = { user, collectionId };
    const row = await changeCollection(
      this.table,
      of,
      signal,
      async ({ key, record, revision }) => {
        const before = record.collection ?? create(CollectionSchema);
        if (expected !== undefined && before.revision !== expected) {
          throw revisionConflict(collectionId, expected, before.revision);
        }
        const collection = { ...before, ...changed, revision: before.revision + 1 };
        const after = create(CollectionRecordSchema, { ...record, collection });
        return await this.table.update(key, after, revision, signal);
      },
    );
    return shown(row.record);
  }

  /** Deletes a collection and the text of its documents. */
  async delete(user: KnowledgeUser, collectionId: string, signal: AbortSignal): Promise<void> {
    const { table } = this;
    const row = await changeCollection(table, { user, collectionId }, signal, async (before) =>
      (await table.deleteVersion(before.key, before.revision, signal)) ? before : undefined,
    );
    await removeObjects(this.objects, row.record.documents.flatMap(objectsOf));
  }

  /**
   * Reads a document and adds it, in place of the one with the same name. Throws a Failure with reason DOCUMENT_UNREADABLE,
   * DOCUMENT_TOO_LARGE, COLLECTION_FULL, or QUOTA_EXCEEDED, and then changes nothing. Without its embeddings it is found by its words.
   */
  async addDocument(
    user: KnowledgeUser,
    collectionId: string,
    draft: DocumentDraft,
    signal: AbortSignal,
  ): Promise<AddedDocument> {
    const added = await this.#adder.add({ user, collectionId }, draft, signal);
    this.noticed(added.row);
    return added;
  }

  /** Returns a document of a collection that the user may change. Throws a Failure of kind `not_found` if there is none. */
  async changeableDocument(
    user: KnowledgeUser,
    collectionId: string,
    documentId: string,
    signal: AbortSignal,
  ): Promise<ChangeableDocument> {
    const { record } = await changeableRow(this.table, { user, collectionId }, signal);
    const found = record.documents.find(({ document }) => document?.documentId === documentId);
    if (found === undefined) throw documentNotFound(collectionId, documentId);
    return { document: shownDocument(found), object: found.object };
  }

  /** Removes a document. Throws a Failure of kind `not_found` if the collection does not have it. */
  async deleteDocument(
    user: KnowledgeUser,
    collectionId: string,
    documentId: string,
    signal: AbortSignal,
  ): Promise<void> {
    const of = { user, collectionId };
    const removed = await changeCollection(this.table, of, signal, async (row) => {
      const { documents: before } = row.record;
      const found = before.find(({ document }) => document?.documentId === documentId);
      if (found === undefined) throw documentNotFound(collectionId, documentId);
      const documents = before.filter((each) => each !== found);
      const change = { documents, nowMs: this.#options.now() };
      return (await replaceDocuments(this.table, row, change, signal)) && found;
    });
    await removeObjects(this.objects, objectsOf(removed));
  }

  /** Throws a Failure unless the user created the collection or is an operator. */
  async assertMayChange(
    user: KnowledgeUser,
    collectionId: string,
    signal: AbortSignal,
  ): Promise<void> {
    await changeableRow(this.table, { user, collectionId }, signal);
  }

  protected override noticed(row: Row<CollectionRecord>, dimensions?: number): void {
    this.#options.refresher?.notice(row, dimensions);
  }

  /** Takes a collection back that was created while other gateways filled the tenant: then neither may have room. */
  async #assertStillRoom(
    tenant: string,
    { key, revision }: Row<CollectionRecord>,
    signal: AbortSignal,
  ): Promise<void> {
    const { length } = await this.table.list(tenant, signal);
    try {
      assertRoomForCollections(length);
    } catch (error) {
      await this.table.deleteVersion(key, revision, signal);
      throw error;
    }
  }

  async #listed(tenant: string, signal: AbortSignal): Promise<readonly Row<CollectionRecord>[]> {
    using _ = await this.#listPermit(tenant, signal);
    return await this.table.list(tenant, signal);
  }

  async #listPermit(tenant: string, signal: AbortSignal): Promise<Disposable> {
    const permit = await this.#lists.acquire(tenant, signal);
    if (permit === undefined) throw busy("the list of collections waits for too many others");
    return permit;
  }
}
