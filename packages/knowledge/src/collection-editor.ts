import { createHash, randomBytes } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { Collection, CollectionRecord, Document } from "@reeve/contracts/extensions/knowledge";
import {
  CollectionRecordSchema,
  CollectionSchema,
  DocumentSchema,
  DocumentTextSchema,
  StoredDocumentSchema,
} from "@reeve/contracts/extensions/knowledge";
import type { Row } from "@reeve/jetstream/table/port";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { Failure } from "@reeve/platform/failure";
import type { KnowledgeStores, KnowledgeUser } from "./collections.ts";
import {
  collectionNotFound,
  Collections,
  keyOf,
  maySee,
  shown,
  textBytesOf,
} from "./collections.ts";
import { documentFormat } from "./parse/formats.ts";
import type { ParseDocument, ParsedDocument } from "./parse/parse-document.ts";

/** The size of the largest document. */
export const maxDocumentBytes = 32 * 1_048_576;
/** The size of the largest object with the text of a document: passages add a few bytes each. */
export const maxTextObjectBytes = 16 * 1_048_576;
const maxDocuments = 500;
const maxTextBytes = 32n * 1_048_576n;
const maxAttempts = 10;
/** Longer than any request takes: text that is older, and that no collection has, is of a process that died. */
const orphanedAfterMs = 3_600_000;

/** A document to add. */
export interface DocumentDraft {
  readonly name: string;
  /** Empty: that of the ending of the name. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** The collections of tenants, for those who change them too. */
export class CollectionEditor extends Collections {
  readonly #parse: ParseDocument;
  readonly #now: () => number;
  /** Each reader takes memory and a processor. */
  readonly #readers = new KeyedSemaphore({ permits: 2, permitsPerKey: 1, maxWaitingPerKey: 100 });

  constructor(stores: KnowledgeStores, parse: ParseDocument, now: () => number) {
    super(stores);
    this.#parse = parse;
    this.#now = now;
  }

  /** Creates an empty collection. Throws a Failure of kind `exists` if there is one with this id. */
  async create(
    { tenant, subject }: KnowledgeUser,
    draft: Pick<Collection, "collectionId" | "title" | "readers">,
    signal: AbortSignal,
  ): Promise<Collection> {
    const now = timestampFromMs(this.#now());
    const { collectionId } = draft;
    const collection = { ...draft, createdBy: subject, createdAt: now, updatedAt: now };
    const record = create(CollectionRecordSchema, { collection });
    const row = await this.table.create(keyOf(tenant, collectionId), record, signal);
    if (row !== undefined) return shown(row.record);
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
    const { record } = await this.#visible(user, collectionId, signal);
    const documents = record.documents.flatMap(({ document }) => document ?? []);
    return { collection: shown(record), documents };
  }

  /** Returns the collections of which the user may know, by id. */
  async list(user: KnowledgeUser, signal: AbortSignal): Promise<readonly Collection[]> {
    const rows = await this.table.list(user.tenant, signal);
    return rows
      .map(({ record }) => record)
      .filter((record) => maySee(user, record))
      .map(shown)
      .toSorted((a, b) => (a.collectionId < b.collectionId ? -1 : 1));
  }

  /** Deletes a collection and the text of its documents. */
  async delete(user: KnowledgeUser, collectionId: string, signal: AbortSignal): Promise<void> {
    const row = await this.#change(user, collectionId, signal, async (before) =>
      (await this.table.deleteVersion(before.key, before.revision, signal)) ? before : undefined,
    );
    for (const { object } of row.record.documents) await this.objects.remove(object, signal);
    const folder = `${folderOf(user, collectionId)}/`;
    const orphanedBefore = this.#now() - orphanedAfterMs;
    for (const object of await this.objects.list(signal)) {
      const isOrphan = object.name.startsWith(folder) && object.storedAt.getTime() < orphanedBefore;
      if (isOrphan) await this.objects.removeUnchanged(object, signal);
    }
  }

  /**
   * Reads a document and adds it, in place of the one with the same name. Throws a Failure with reason DOCUMENT_UNREADABLE,
   * DOCUMENT_TOO_LARGE, or COLLECTION_FULL, and then changes nothing.
   */
  async addDocument(
    user: KnowledgeUser,
    collectionId: string,
    { name, mediaType: given, bytes }: DocumentDraft,
    signal: AbortSignal,
  ): Promise<Document> {
    const { mediaType, format } = documentFormat(name, given);
    assertDocumentFits(name, bytes.length);
    // Nobody parses for a collection that they cannot change.
    await this.assertMayChange(user, collectionId, signal);
    const parsed = await this.#read(
      user,
      name,
      (until) => this.#parse(name, format, bytes, until),
      signal,
    );
    const { passages, pageCount } = parsed;
    const document = create(DocumentSchema, {
      documentId: documentIdOf(user.tenant, collectionId, name),
      name,
      mediaType,
      sizeBytes: BigInt(bytes.length),
      sha256: createHash("sha256").update(bytes).digest("hex"),
      textBytes: BigInt(passages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)),
      passageCount: passages.length,
      pageCount,
      addedBy: user.subject,
      addedAt: timestampFromMs(this.#now()),
    });
    const folder = folderOf(user, collectionId);
    const { name: object } = await this.objects.write(folder, encoded(parsed), signal);
    await this.#store(user, collectionId, { document, object }, signal);
    return document;
  }

  /** Removes a document. Throws a Failure of kind `not_found` if the collection does not have it. */
  async deleteDocument(
    user: KnowledgeUser,
    collectionId: string,
    documentId: string,
    signal: AbortSignal,
  ): Promise<void> {
    const removed = await this.#change(user, collectionId, signal, async (row) => {
      const { documents } = row.record;
      const found = documents.find(({ document }) => document?.documentId === documentId);
      if (found === undefined) throw documentNotFound(collectionId, documentId);
      const others = documents.filter((each) => each !== found);
      return (await this.#replace(row, others, signal)) ? found : undefined;
    });
    await this.objects.remove(removed.object, signal);
  }

  /** Throws a Failure unless the user created the collection or is an operator. */
  async assertMayChange(
    user: KnowledgeUser,
    collectionId: string,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#changeable(user, collectionId, signal);
  }

  async #store(
    user: KnowledgeUser,
    collectionId: string,
    { document, object }: { readonly document: Document; readonly object: string },
    signal: AbortSignal,
  ): Promise<void> {
    const stored = create(StoredDocumentSchema, { document, object });
    const isSame = (each: { readonly document?: Document | undefined }) =>
      each.document?.documentId === document.documentId;
    let replaced: string | undefined;
    try {
      await this.#change(user, collectionId, signal, async (row) => {
        const { documents } = row.record;
        replaced = documents.find(isSame)?.object;
        const after = [...documents.filter((each) => !isSame(each)), stored];
        assertRoom(collectionId, after);
        return (await this.#replace(row, after, signal)) ? row : undefined;
      });
    } catch (error) {
      // Whether a lost answer stored the row is not known: its text then stays.
      const isRefused = error instanceof Failure && error.kind !== "unavailable";
      if (isRefused) await this.objects.remove(object, signal).catch(() => undefined);
      throw error;
    }
    if (replaced !== undefined) await this.objects.remove(replaced, signal);
  }

  async #replace(
    { key, record, revision }: Row<CollectionRecord>,
    documents: CollectionRecord["documents"],
    signal: AbortSignal,
  ): Promise<boolean> {
    const updatedAt = timestampFromMs(this.#now());
    const collection = { ...(record.collection ?? create(CollectionSchema)), updatedAt };
    const after = create(CollectionRecordSchema, { ...record, collection, documents });
    return (await this.table.update(key, after, revision, signal)) !== undefined;
  }

  /** Repeats a change until no other writer is faster. `change` returns undefined if one was. */
  async #change<Result>(
    user: KnowledgeUser,
    collectionId: string,
    signal: AbortSignal,
    change: (row: Row<CollectionRecord>) => Promise<Result | undefined>,
  ): Promise<Result> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const result = await change(await this.#changeable(user, collectionId, signal));
      if (result !== undefined) return result;
    }
    const message = `collection ${collectionId} is being changed by many callers at once; try again`;
    throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
  }

  async #changeable(user: KnowledgeUser, collectionId: string, signal: AbortSignal) {
    const row = await this.#visible(user, collectionId, signal);
    if (user.isOperator === true || row.record.collection?.createdBy === user.subject) return row;
    const message = `collection ${collectionId} can be changed by its creator and by operators only`;
    throw new Failure("denied", ErrorReason.PERMISSION_DENIED, message, {
      metadata: { collection_id: collectionId },
    });
  }

  async #visible(user: KnowledgeUser, collectionId: string, signal: AbortSignal) {
    const row = await this.row(user, collectionId, signal);
    if (row === undefined || !maySee(user, row.record)) throw collectionNotFound(collectionId);
    return row;
  }

  async #read(
    { tenant }: KnowledgeUser,
    name: string,
    read: (signal: AbortSignal) => Promise<ParsedDocument>,
    signal: AbortSignal,
  ): Promise<ParsedDocument> {
    using permit = await this.#readers.acquire(tenant, signal);
    if (permit !== undefined) return await read(signal);
    const message = `document "${name}" has to wait for too many others of the tenant; try again later`;
    throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
  }
}

/** Throws a Failure if a document is larger than 32 MiB. */
export function assertDocumentFits(name: string, sizeBytes: number): void {
  if (sizeBytes <= maxDocumentBytes) return;
  const message = `document "${name}" has ${sizeBytes} bytes, more than ${maxDocumentBytes}; divide it into smaller ones`;
  throw new Failure("exhausted", ErrorReason.DOCUMENT_TOO_LARGE, message);
}

function assertRoom(collectionId: string, documents: CollectionRecord["documents"]): void {
  const problem =
    documents.length > maxDocuments
      ? `${maxDocuments} documents`
      : textBytesOf(documents) > maxTextBytes
        ? `${maxTextBytes} bytes of text`
        : undefined;
  if (problem === undefined) return;
  const message = `collection ${collectionId} would have more than ${problem}, the maximum; delete documents, or create another collection`;
  throw new Failure("exhausted", ErrorReason.COLLECTION_FULL, message, {
    metadata: { collection_id: collectionId },
  });
}

async function* encoded({ passages }: ParsedDocument): AsyncIterable<Uint8Array> {
  const text = { passages: [...passages], nonce: randomBytes(16) };
  yield toBinary(DocumentTextSchema, create(DocumentTextSchema, text));
}

function folderOf({ tenant }: KnowledgeUser, collectionId: string): string {
  return `${tenant}/${collectionId}`;
}

function documentIdOf(...parts: readonly string[]): string {
  return `doc_${createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)}`;
}

function documentNotFound(collectionId: string, documentId: string): Failure {
  const message = `collection ${collectionId} has no document ${documentId}; list its documents for their ids`;
  return new Failure("not_found", ErrorReason.DOCUMENT_NOT_FOUND, message, {
    metadata: { collection_id: collectionId, document_id: documentId },
  });
}
