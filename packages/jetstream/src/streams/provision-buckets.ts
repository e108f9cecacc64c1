import type { NatsConnection } from "@nats-io/transport-node";
import { bucketOf } from "@reeve/contracts/channel";
import { messagesWithBucket } from "@reeve/contracts/declared";
import { artifactBytesBucket, openArtifactStore } from "../objects/nats-artifact-store.ts";
import { openObjects } from "../objects/nats.ts";
import { openTable } from "../table/nats.ts";
import { collectionTextBucket } from "../objects/collection-store.ts";
import { workspaceBucket } from "../objects/workspace-store.ts";

/**
 * Creates every bucket that the contracts declare, and the stores of artifacts and snapshots. Returns the names of their
 * streams.
 */
export async function provisionBuckets(
  nats: { readonly connection: NatsConnection },
  signal: AbortSignal,
): Promise<readonly string[]> {
  for (const message of messagesWithBucket) {
    signal.throwIfAborted();
    await openTable(nats, message);
  }
  await openArtifactStore(nats, { maxBytes: 0 });
  await openObjects(nats, { bucket: workspaceBucket, maxBytes: 0 });
  await openObjects(nats, { bucket: collectionTextBucket, maxBytes: 0 });
  const tables = messagesWithBucket.map((message) => `KV_${bucketOf(message).name}`);
  return [
    ...tables,
    `OBJ_${artifactBytesBucket}`,
    `OBJ_${workspaceBucket}`,
    `OBJ_${collectionTextBucket}`,
  ];
}
