import type { DescMessage } from "@bufbuild/protobuf";
import type { NatsConnection } from "@nats-io/transport-node";
import type { ChannelTemplate } from "@reeve/contracts/channel";
import type { LogDefinition } from "../log/definitions.ts";
import { placeOfLog } from "../log/shards/place-of-log.ts";
import { openBatch } from "../log/sealed-batch.ts";
import type { StoredBatch } from "../log/stored-batch.ts";
import { contentOf } from "../log/stored-batch.ts";
import { payloadCipherOf } from "../sealing/payload-cipher.ts";
import type { KindFilter } from "./port.ts";

/** The events of a batch, and whose they are. */
interface KeyedEvents<Key, Event> {
  readonly key: Key;
  readonly events: readonly Event[];
}

/** Decrypts and decodes the batches of one kind of log, of any tenant. */
export interface BatchOpener<Key, Event> {
  /** Returns the tenant of a subject. Undefined: it is not the subject of a log. */
  tenantOf(subject: string): string | undefined;
  /**
   * Returns the content of a batch; undefined if the subject is not that of a log. Throws a Failure if the key of the tenant is not
   * available or was deleted, and of kind `data_loss` if the batch was altered.
   */
  open(
    subject: string,
    batch: StoredBatch,
    signal: AbortSignal,
  ): Promise<KeyedEvents<Key, Event> | undefined>;
}

/** Returns what opens the batches of a kind of log. */
export function batchOpener<Key, Event, Schema extends DescMessage>(
  connection: NatsConnection,
  definition: LogDefinition<Key, Event, Schema>,
  channel: ChannelTemplate,
): BatchOpener<Key, Event> {
  const cipher = payloadCipherOf(connection);
  const tenantOf = (subject: string) => channel.tokensOf(subject)?.["tenant"];
  return {
    tenantOf,
    async open(subject, batch, signal) {
      const tokens = channel.tokensOf(subject);
      const key = tokens && definition.keyOf(tokens);
      if (key === undefined) return undefined;
      const place = placeOfLog(definition.schema, channel, subject);
      const opened = await openBatch(cipher, place, batch, signal);
      try {
        return { key, events: contentOf(definition, opened).events };
      } catch (cause) {
        throw cipher.altered(place, cause);
      }
    },
  };
}

/** Returns whether a reader of `kinds` needs a batch. Nobody needs a message that stands for what was archived. */
export function isOfKinds({ kinds: found, marker }: StoredBatch, kinds: KindFilter): boolean {
  return marker === undefined && found.some((kind) => kinds.has(kind));
}
