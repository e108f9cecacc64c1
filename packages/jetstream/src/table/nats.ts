import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { jetstream } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import type { NatsConnection } from "@nats-io/transport-node";
import { bucketOf } from "@reeve/contracts/channel";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { readBucketInstance } from "./bucket-instance.ts";
import { NatsTable } from "./nats-table.ts";
import { callStore } from "../streams/call-store.ts";
import { ensureBucket, openJetStreamManager } from "../streams/ensure-stream.ts";
import { openOrCreate } from "../streams/open-or-create.ts";
import type { RetryDelays } from "./unreadable-rows.ts";
import { defaultRetryDelays } from "./unreadable-rows.ts";
import type { Table, TableHistory } from "./port.ts";

interface TableOptions {
  /** Whether rows of up to 64 KiB may use the reserve of a full store. Deletions always may. Default: true. */
  readonly usesReserve?: boolean;
  /** When rows that cannot be read are read again. Default: from one second to half a minute. */
  readonly delays?: RetryDelays;
}

/** Opens the bucket that `schema` declares, and creates it if it is missing. */
export async function openTable<Schema extends DescMessage>(
  { connection }: { readonly connection: NatsConnection },
  schema: Schema,
  { usesReserve = true, delays = defaultRetryDelays }: TableOptions = {},
): Promise<Table<MessageShape<Schema>> & TableHistory<MessageShape<Schema>>> {
  const { name, history, maxAgeMs } = bucketOf(schema);
  const stream = `KV_${name}`;
  // A replica that lags may answer a direct read, but a writer has to read what it wrote.
  const reads = { allow_direct: false };
  const expiry = maxAgeMs === undefined ? {} : { ttl: maxAgeMs };
  const { streams } = await callStore(() => openJetStreamManager(connection));
  const buckets = new Kvm(jetstream(connection, { checkAPI: false }));
  const open = () => buckets.open(name, { ...reads });
  const create = (replicas: number) =>
    buckets.create(name, { history, ...reads, ...expiry, replicas });
  const bucket = await ensureBucket(connection, stream, () =>
    openOrCreate(connection, { stream, open, create }),
  );
  return new NatsTable(connection, { bucket, streams, schema, usesReserve, delays });
}

/** Whether the bucket that `schema` declares exists. */
export async function bucketExists(
  { connection }: { readonly connection: NatsConnection },
  schema: DescMessage,
): Promise<boolean> {
  const { streams } = await callStore(() => openJetStreamManager(connection));
  return (await readBucketInstance(streams, bucketOf(schema).name)) !== undefined;
}

/**
 * Creates the bucket that `schema` declares if it is missing. Returns what identifies it: a bucket that was deleted and created
 * again has another identity.
 */
export async function bucketInstance(
  nats: { readonly connection: NatsConnection },
  schema: DescMessage,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  const { name } = bucketOf(schema);
  const { streams } = await callStore(() => openJetStreamManager(nats.connection));
  const instance = await readBucketInstance(streams, name);
  if (instance !== undefined) return instance;
  await openTable(nats, schema);
  const created = await readBucketInstance(streams, name);
  if (created === undefined) throw storeUnavailable(new Error(`bucket ${name} was deleted`));
  return created;
}
