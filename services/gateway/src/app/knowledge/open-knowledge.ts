import { CollectionRecordSchema } from "@reeve/contracts/extensions/knowledge";
import { collectionTextBucket } from "@reeve/jetstream/objects/collection-store";
import { openObjects } from "@reeve/jetstream/objects/nats";
import { openTable } from "@reeve/jetstream/table/nats";
import { CollectionEditor } from "@reeve/knowledge/collection-editor";
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
}

/** Opens the collections on NATS. Documents are embedded again in the background until `signal` aborts. */
export async function openKnowledge(
  { nats, log, embedder }: KnowledgeDependencies,
  signal: AbortSignal,
): Promise<CollectionEditor> {
  const stores = {
    table: await openTable(nats, CollectionRecordSchema),
    objects: await openObjects(nats, {
      bucket: collectionTextBucket,
      maxBytes: maxTextObjectBytes,
    }),
  };
  const { now } = systemClock;
  const refresher = embedder && new VectorRefresher({ ...stores, embedder, now, log }, signal);
  return new CollectionEditor(stores, { parse: documentParser({ log }), now, embedder, refresher });
}
