import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  CollectionRecord,
  Document,
  StoredDocument,
} from "@reeve/contracts/extensions/knowledge";
import { DocumentSchema, StoredDocumentSchema } from "@reeve/contracts/extensions/knowledge";
import type { Row } from "@reeve/jetstream/table/port";
import type { KnowledgeStores } from "../collections.ts";
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
  ): Promise<AddedDocument & { readonly row: Row<CollectionRecord> }> {
    const { objects } = this.#stores;
    const { tenant } = of.user;
    assertPlainName(draft.name);
    const { mediaType } = documentFormat(draft.name, draft.mediaType);
    // Nobody parses for a collection that they cannot change.
    const { record } = await changeableRow(this.#stores.table, of, signal);
    const { parsed, ...read } = await this.#intake.read(tenant, draft, signal);
    const texts = parsed.passages.map(({ text }) => text);
    const nowMs = this.#options.now();
    const documentId = documentIdOf(tenant, of.collectionId, draft.name);
    const document = create(DocumentSchema, {
      documentId,
      name: draft.name,
      mediaType,
      sizeBytes: BigInt(read.sizeBytes),
      sha256: read.sha256,
      textBytes: BigInt(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)),
      passageCount: texts.length,
      pageCount: parsed.pageCount,
      addedBy: of.user.subject,
      addedAt: timestampFromMs(nowMs),
      ...(draft.fetched && { origin: draft.fetched.origin }),
    });
    const replaced = record.documents.filter((each) => each.document?.documentId === documentId);
    const owner = { tenant, subject: record.collection?.createdBy ?? "" };
    const growth = growthOf(replaced, [create(StoredDocumentSchema, { document })]);
    await using room = await this.#options.room.hold(owner, growth, signal);
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
        stored.vectors = await storeVectors(objects, folder, { ...embedded, nowMs }, signal);
        unused = [stored.vectors.object];
      }
      row = await this.#record(of, { stored, replaces: draft.replaces, progress }, signal);
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
      replaced = same.flatMap(objectsOf);
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
