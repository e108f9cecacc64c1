import { CollectionRecordSchema } from "@reeve/contracts/extensions/knowledge";
import { collectionTextBucket } from "@reeve/jetstream/objects/collection-store";
import { openObjects } from "@reeve/jetstream/objects/nats";
import { openTable } from "@reeve/jetstream/table/nats";
import { sweepTexts } from "@reeve/knowledge/sweep-texts";
import type { Clock } from "@reeve/platform/async/clock";
import type { Nats } from "@reeve/platform/nats/connect-nats";

const intervalMs = 3_600_000;

/** Removes every hour what no collection names any more, until the signal aborts. */
export async function sweepCollections(
  nats: Nats,
  clock: Pick<Clock, "now" | "sleep">,
  signal: AbortSignal,
): Promise<void> {
  const table = await openTable(nats, CollectionRecordSchema);
  const objects = await openObjects(nats, { bucket: collectionTextBucket, maxBytes: 0 });
  while (!signal.aborted) {
    await clock.sleep(intervalMs, signal);
    await sweepTexts({ table, objects }, clock.now(), signal);
  }
}
