import { create, fromBinary } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import type {
  CollectionRecord,
  StoredDocument,
  StoredVectors,
} from "@reeve/contracts/extensions/knowledge";
import {
  CollectionRecordSchema,
  DocumentTextSchema,
  StoredDocumentSchema,
  StoredVectorsSchema,
} from "@reeve/contracts/extensions/knowledge";
import type { Objects } from "@reeve/jetstream/objects/port";
import type { Row, Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { DocumentRoom } from "../documents/document-room.ts";
import { vectorBytesIn } from "../documents/document-room.ts";
import { hasRoomForVectors } from "../records/knowledge-limits.ts";
import { CountingEmbedder } from "./counting-embedder.ts";
import { embedTexts } from "./embed-texts.ts";
import type { Embedder } from "./embedder.ts";
import { FailedDocuments } from "./failed-documents.ts";
import { ageOf, ageToReplace, namesAfter } from "./replaced-models.ts";
import { storeVectors } from "./store-vectors.ts";

interface RefresherPorts {
  readonly table: Table<CollectionRecord>;
  readonly objects: Objects;
  readonly embedder: Embedder;
  /** The room that the operator gives. */
  readonly room: DocumentRoom;
  readonly now: () => number;
  readonly log: Pick<Logger, "warn" | "info">;
}

/** More collections than this wait for their next search. */
const maxWaiting = 100;
/** How long an embedder that failed is left alone. */
const pauseMs = 60_000;
/** How long a document that the model refused is left alone at first. */
const firstDelayMs = 3_600_000;
const maxAttempts = 10;

/**
 * Embeds the documents of collections that have no embeddings of the model of now, one collection after another, in the background. A
 * model that was changed replaces all embeddings of a collection this way. A document that fails is tried again later and later. Stops
 * when its signal aborts, and continues with the next search.
 */
export class VectorRefresher {
  readonly #ports: RefresherPorts;
  readonly #signal: AbortSignal;
  readonly #waiting = new Set<string>();
  readonly #failed: FailedDocuments;
  #running: Promise<void> | undefined;
  #pausedUntilMs = 0;
  /** How many values the vectors of the model have, as it answered last. */
  #dimensions: number | undefined;

  constructor(ports: RefresherPorts, signal: AbortSignal) {
    this.#ports = ports;
    this.#signal = signal;
    this.#failed = new FailedDocuments(ports.now);
  }

  /** Resolves when nothing is left to do, or until an embedder that failed is tried again. */
  get idle(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  /** Embeds what a collection lacks, later. `dimensions` is how many values the vectors of the model have, if that is known. */
  notice({ key, record }: Row<CollectionRecord>, dimensions?: number): void {
    this.#dimensions = dimensions ?? this.#dimensions;
    if (!record.documents.some((each) => this.#lacks(each))) return;
    if (this.#waiting.size < maxWaiting) this.#waiting.add(key);
    if (this.#ports.now() < this.#pausedUntilMs) return;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
  }

  async #run(): Promise<void> {
    for (const key of this.#waiting) {
      if (this.#signal.aborted) return;
      this.#waiting.delete(key);
      try {
        await this.#refresh(key);
      } catch (error) {
        if (this.#signal.aborted) return;
        this.#ports.log.warn({ err: error, key }, "documents were not embedded");
        if (!isUnavailable(error)) continue;
        // The others wait, and this one after them.
        this.#waiting.add(key);
        this.#pausedUntilMs = this.#ports.now() + pauseMs;
        return;
      }
    }
  }

  async #refresh(key: string): Promise<void> {
    const tried = new Set<string>();
    for (;;) {
      // Read again: another process may embed the same collection.
      const row = await this.#ports.table.get(key, this.#signal);
      if (row === undefined) return;
      const { documents } = row.record;
      const next = documents.find((each) => this.#lacks(each) && !tried.has(each.object));
      if (next === undefined || !this.#hasRoomFor(documents, next)) return;
      tried.add(next.object);
      await this.#embed(row, next);
    }
  }

  #lacks({ vectors, object }: StoredDocument): boolean {
    const { embedder, now } = this.#ports;
    if (this.#failed.has(object)) return false;
    if (vectors === undefined) return true;
    const age = ageToReplace(vectors, { model: embedder.model, dimensions: this.#dimensions });
    return age !== undefined && ageOf(vectors, now()) >= age;
  }

  #hasRoomFor(documents: readonly StoredDocument[], added: StoredDocument): boolean {
    const vectors = create(StoredVectorsSchema, { dimensions: this.#dimensions ?? 0 });
    return hasRoomForVectors(
      documents.map((each) => (each === added ? { ...each, vectors } : each)),
    );
  }

  async #embed({ key, record }: Row<CollectionRecord>, { object, ...before }: StoredDocument) {
    const { embedder, objects, room, log } = this.#ports;
    const chunks = await objects.read(object, this.#signal);
    if (chunks === undefined) return;
    const { passages } = fromBinary(
      DocumentTextSchema,
      Buffer.concat(await Array.fromAsync(chunks)),
    );
    const texts = passages.map(({ text }) => text);
    const counting = new CountingEmbedder(embedder);
    const folder = object.slice(0, object.lastIndexOf("/"));
    const [tenant = ""] = folder.split("/");
    const owner = { tenant, subject: record.collection?.createdBy ?? "" };
    // Nothing is paid for embeddings that have no room.
    const expected = texts.length * (this.#dimensions ?? 0);
    try {
      const growth = { documents: 0, bytes: expected - vectorBytesIn(before) };
      await using held = await room.hold(owner, growth, this.#signal);
      const embedded = await embedTexts(counting, texts, { signal: this.#signal });
      this.#dimensions = embedded.dimensions;
      const bytes = embedded.values.byteLength - expected;
      if (!(await held.extend(bytes, this.#signal))) throw withoutQuota(object);
      const made = { ...embedded, nowMs: this.#ports.now() };
      const vectors = await storeVectors(objects, folder, made, this.#signal);
      const replaced = await this.#record(key, object, vectors);
      const unused = replaced.isStored ? replaced.before : vectors.object;
      if (unused !== undefined) await objects.remove(unused, this.#signal);
      const { model, tokens, costUsd } = vectors;
      const { refused } = embedded;
      if (before.vectors?.replacedModels.includes(`${model}/${vectors.dimensions}`)) {
        const { model: other } = before.vectors;
        log.warn(
          { key, model, other },
          "a gateway embeds with another model; give all the same file",
        );
      }
      log.info({ key, model, tokens: Number(tokens), costUsd, refused }, "document embedded");
      this.#failed.delete(object);
    } catch (error) {
      if (this.#signal.aborted) throw error;
      this.#failed.add(object, isUnavailable(error) ? pauseMs : firstDelayMs);
      const { tokens } = counting;
      log.warn({ err: error, key, object, tokens }, "document not embedded");
      if (isUnavailable(error)) throw error;
    }
  }

  /** Returns whether the document is still there, and the object of its vectors before. */
  async #record(key: string, object: string, made: StoredVectors) {
    const { table } = this.#ports;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const row = await table.get(key, this.#signal);
      const found = row?.record.documents.find((each) => each.object === object);
      if (row === undefined || found === undefined) return { isStored: false } as const;
      const vectors = { ...made, replacedModels: namesAfter(found.vectors) };
      const documents = row.record.documents.map((each) =>
        each === found ? create(StoredDocumentSchema, { ...each, vectors }) : each,
      );
      if (!hasRoomForVectors(documents)) return { isStored: false } as const;
      const after = create(CollectionRecordSchema, { ...row.record, documents });
      const updated = await table.update(key, after, row.revision, this.#signal);
      if (updated !== undefined) return { isStored: true, before: found.vectors?.object } as const;
    }
    return { isStored: false } as const;
  }
}

function withoutQuota(object: string): Failure {
  const message = `a quota has no room for the embeddings of ${object}`;
  return new Failure("exhausted", ErrorReason.QUOTA_EXCEEDED, message);
}

function isUnavailable(error: unknown): boolean {
  return error instanceof Failure && error.kind === "unavailable";
}
