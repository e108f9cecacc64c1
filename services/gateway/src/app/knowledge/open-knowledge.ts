import type { CollectionRecord } from "@reeve/contracts/extensions/knowledge";
import { collectionTextBucket } from "@reeve/jetstream/objects/collection-store";
import { openObjects } from "@reeve/jetstream/objects/nats";
import type { Table } from "@reeve/jetstream/table/port";
import { CollectionEditor } from "@reeve/knowledge/collection-editor";
import type { DocumentRoom } from "@reeve/knowledge/documents/document-room";
import { documentParser } from "@reeve/knowledge/parse/parse-document";
import { maxTextObjectBytes } from "@reeve/knowledge/records/knowledge-limits";
import type { Embedder } from "@reeve/knowledge/vectors/embedder";
import { VectorRefresher } from "@reeve/knowledge/vectors/vector-refresher";
import { systemClock } from "@reeve/platform/async/clock";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Logger } from "@reeve/platform/telemetry/logger";

interface KnowledgeDependencies {
  readonly nats: Nats;
  readonly log: Logger;
  readonly embedder: Embedder | undefined;
  readonly table: Table<CollectionRecord>;
  readonly room: DocumentRoom;
}

/** Opens the collections on NATS. Documents are embedded again in the background until `signal` aborts. */
export async function openKnowledge(
  { nats, log, embedder, table, room }: KnowledgeDependencies,
  signal: AbortSignal,
): Promise<CollectionEditor> {
  const stores = {
    table,
    objects: await openObjects(nats, {
      bucket: collectionTextBucket,
      maxBytes: maxTextObjectBytes,
    }),
  };
  const { now } = systemClock;
  const refresher =
    embedder && new VectorRefresher({ ...stores, embedder, room, now, log }, signal);
  const parse = documentParser({ log });
  return new CollectionEditor(stores, { parse, now, embedder, room, refresher });
}
