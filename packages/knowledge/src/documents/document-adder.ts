import { create, equals, fromBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  CollectionRecord,
  Document,
  StoredDocument,
} from "@reeve/contracts/extensions/knowledge";
import {
  DocumentSchema,
  DocumentTextSchema,
  StoredDocumentSchema,
} from "@reeve/contracts/extensions/knowledge";
import type { Row } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";
import type { KnowledgeStores } from "../collections.ts";
import type { ParsedDocument } from "../parse/parse-document.ts";
import { documentFormat } from "../parse/formats.ts";
import type { CollectionOfUser } from "../records/change-collection.ts";
import { changeableRow, changeCollection, replaceDocuments } from "../records/change-collection.ts";
import { documentIdOf, objectsOf, shownDocument } from "../records/collection-record.ts";
import { documentReplaced, withoutRoom } from "../records/editor-failures.ts";
import { assertPlainName, assertRoom, hasRoomForVectors } from "../records/knowledge-limits.ts";
import { storeText } from "../records/store-text.ts";
import { withoutEmbeddings } from "../vectors/embed-document.ts";
import { storeVectors } from "../vectors/store-vectors.ts";
import type { DocumentDraft, IntakeOptions } from "./document-intake.ts";
import { DocumentIntake } from "./document-intake.ts";
import type { DocumentRoom, DocumentUse, HeldRoom } from "./document-room.ts";
import { useOf } from "./document-room.ts";
import { removeObjects } from "./remove-objects.ts";

/** A document that was added. */
export interface AddedDocument {
  readonly document: Document;
  /** What it lacks. */
  readonly warnings: readonly string[];
}

/** A document that was added, and its collection as it then is. */
interface RecordedDocument extends AddedDocument {
  readonly row: Row<CollectionRecord>;
}

interface Addition {
  readonly document: Document;
  readonly parsed: ParsedDocument;
  readonly room: HeldRoom;
  readonly replaces: string | undefined;
}

interface AdderOptions extends IntakeOptions {
  readonly now: () => number;
  readonly room: DocumentRoom;
}

const quotaIsFull = "a quota has no room for them; delete documents, or ask the operator for more";

/** Reads documents, and adds each with all of its text, or not at all. */
export class DocumentAdder {
  readonly #stores: KnowledgeStores;
  readonly #options: AdderOptions;
  readonly #intake: DocumentIntake;

  constructor(stores: KnowledgeStores, options: AdderOptions) {
    this.#stores = stores;
    this.#options = options;
    this.#intake = new DocumentIntake(options);
  }

  /** As `CollectionEditor.addDocument`. Returns the collection as it then is, too. */
  async add(
    of: CollectionOfUser,
    draft: DocumentDraft,
    signal: AbortSignal,
  ): Promise<RecordedDocument> {
    const { tenant, subject } = of.user;
    assertPlainName(draft.name);
    const { mediaType } = documentFormat(draft.name, draft.mediaType);
    // Nobody parses for a collection that they cannot change.
    await changeableRow(this.#stores.table, of, signal);
    const { parsed, ...read } = await this.#intake.read(tenant, draft, signal);
    // As it is now: what was removed meanwhile has no room to give.
    const { record } = await changeableRow(this.#stores.table, of, signal);
    const { passages, pageCount } = parsed;
    const documentId = documentIdOf(tenant, of.collectionId, draft.name);
    const document = create(DocumentSchema, {
      documentId,
      name: draft.name,
      mediaType,
      sizeBytes: BigInt(read.sizeBytes),
      sha256: read.sha256,
      textBytes: BigInt(passages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)),
      passageCount: passages.length,
      pageCount,
      addedBy: subject,
      addedAt: timestampFromMs(this.#options.now()),
      ...(draft.fetched && { origin: draft.fetched.origin }),
    });
    const before = record.documents.find((each) => each.document?.documentId === documentId);
    if (before !== undefined && (await this.#isKept(before, document, parsed, signal))) {
      const kept = create(StoredDocumentSchema, { ...before, document });
      const recorded = await this.#keep(of, kept, signal);
      if (recorded !== undefined) return recorded;
    }
    const owner = { tenant, subject: record.collection?.createdBy ?? "" };
    const added = create(StoredDocumentSchema, { document });
    const growth = growthOf(before === undefined ? [] : [before], [added]);
    await using room = await this.#options.room.hold(owner, growth, signal);
    return await this.#store(of, { document, parsed, room, replaces: draft.replaces }, signal);
  }

  /** Returns whether a document has this text already, with embeddings of the model of now: nothing is then stored or paid again. */
  async #isKept(
    { document: before, object, vectors }: StoredDocument,
    after: Document,
    { passages }: ParsedDocument,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { embedder } = this.#options;
    const isEmbedded = embedder === undefined || vectors?.model === embedder.model;
    if (before?.sha256 !== after.sha256 || before.mediaType !== after.mediaType || !isEmbedded) {
      return false;
    }
    // Another version may read the same bytes otherwise.
    const chunks = await this.#stores.objects.read(object, signal);
    if (chunks === undefined) return false;
    const stored = fromBinary(DocumentTextSchema, Buffer.concat(await Array.fromAsync(chunks)));
    const given = create(DocumentTextSchema, { passages: [...passages], nonce: stored.nonce });
    return equals(DocumentTextSchema, stored, given);
  }

  /** Records a document that keeps its text. Returns undefined if somebody else replaced or removed it meanwhile. */
  async #keep(
    of: CollectionOfUser,
    stored: StoredDocument,
    signal: AbortSignal,
  ): Promise<RecordedDocument | undefined> {
    const recording = { stored, replaces: stored.object, progress: { mayBeRecorded: false } };
    try {
      const row = await this.#record(of, recording, signal);
      return { document: shownDocument(stored), warnings: [], row };
    } catch (error) {
      if (error instanceof Failure && error.kind === "conflict") return undefined;
      throw error;
    }
  }

  /** Stores the text of a document and its embeddings, and records it. */
  async #store(
    of: CollectionOfUser,
    { document, parsed, room, replaces }: Addition,
    signal: AbortSignal,
  ): Promise<RecordedDocument> {
    const { objects } = this.#stores;
    const { tenant } = of.user;
    const texts = parsed.passages.map(({ text }) => text);
    const made = await this.#intake.embed(tenant, texts, signal);
    const { embedded, warnings } = await this.#withRoom(room, made, signal);
    const folder = `${tenant}/${of.collectionId}`;
    const object = await storeText(objects, folder, parsed, signal);
    const stored = create(StoredDocumentSchema, { document, object });
    const progress = { mayBeRecorded: false };
    let unused: readonly string[] = [];
    let row: Row<CollectionRecord>;
    try {
      if (embedded) {
        const nowMs = this.#options.now();
        stored.vectors = await storeVectors(objects, folder, { ...embedded, nowMs }, signal);
        unused = [stored.vectors.object];
      }
      row = await this.#record(of, { stored, replaces, progress }, signal);
    } catch (error) {
      // Whether a lost answer recorded the document is not known: its text then stays.
      if (!progress.mayBeRecorded) await removeObjects(objects, [object, ...unused]);
      throw error;
    }
    const isWithoutRoom = embedded !== undefined && stored.vectors === undefined;
    if (isWithoutRoom) await removeObjects(objects, unused);
    return {
      document: shownDocument(stored),
      warnings: isWithoutRoom ? [withoutRoom(of.collectionId)] : warnings,
      row,
    };
  }

  /** Returns embeddings if the operator has room for them, and otherwise a warning. */
  async #withRoom(
    room: HeldRoom,
    made: Awaited<ReturnType<DocumentIntake["embed"]>>,
    signal: AbortSignal,
  ): Promise<typeof made> {
    if (made.embedded === undefined) return made;
    const bytes = made.embedded.values.byteLength;
    return (await room.extend(bytes, signal)) ? made : withoutEmbeddings(quotaIsFull);
  }

  /** Records a document that is stored. Sets `mayBeRecorded` while the outcome is not known. */
  async #record(
    of: CollectionOfUser,
    { stored, replaces, progress }: Recording,
    signal: AbortSignal,
  ): Promise<Row<CollectionRecord>> {
    const { table, objects } = this.#stores;
    const documentId = stored.document?.documentId ?? "";
    const isSame = ({ document }: StoredDocument) => document?.documentId === documentId;
    let replaced: readonly string[] = [];
    const row = await changeCollection(table, of, signal, async (before) => {
      const { documents } = before.record;
      const same = documents.filter(isSame);
      if (replaces !== undefined && !same.some(({ object }) => object === replaces)) {
        throw documentReplaced(of.collectionId, documentId);
      }
      // What it keeps may have been embedded again meanwhile.
      const kept = same.find(({ object }) => object === stored.object);
      if (kept?.vectors !== undefined) stored.vectors = kept.vectors;
      const own = new Set(objectsOf(stored));
      replaced = same.flatMap(objectsOf).filter((object) => !own.has(object));
      const after = [...documents.filter((each) => !isSame(each)), stored];
      assertRoom(of.collectionId, after);
      if (!hasRoomForVectors(after)) delete stored.vectors;
      signal.throwIfAborted();
      progress.mayBeRecorded = true;
      const change = { documents: after, nowMs: this.#options.now() };
      const replacement = await replaceDocuments(table, before, change, signal);
      progress.mayBeRecorded = replacement !== undefined;
      return replacement;
    });
    await removeObjects(objects, replaced);
    return row;
  }
}

interface Recording {
  readonly stored: StoredDocument;
  readonly replaces: string | undefined;
  readonly progress: { mayBeRecorded: boolean };
}

/** Returns what a collection grows by. Less than 0: it shrinks. */
function growthOf(
  before: readonly StoredDocument[],
  after: readonly StoredDocument[],
): DocumentUse {
  const [from, to] = [useOf(before), useOf(after)];
  return { documents: to.documents - from.documents, bytes: to.bytes - from.bytes };
}
