import type { JetStreamManager } from "@nats-io/jetstream";
import { RunBatchSchema } from "@reeve/contracts/run";
import { permissionsOf } from "../access/permissions.ts";
import { findShards } from "../streams/shards/find-shards.ts";

const infoPrefix = "$JS.API.STREAM.INFO.";
const maxStreams = 20;

/** How much is stored. */
export interface StoreUsage {
  readonly bytes: number;
  /** 0: the account has no limit of its own. */
  readonly maxBytes: number;
  /** The largest streams, the largest first. */
  readonly streams: readonly StreamUsage[];
}

interface StreamUsage {
  readonly name: string;
  readonly bytes: number;
  readonly messages: number;
}

/** Returns what the account stores, with the largest of the streams that the gateway may look at. */
export async function storeUsage(manager: JetStreamManager): Promise<StoreUsage> {
  const account = await manager.getAccountInfo();
  const shards = (await findShards(manager.streams, RunBatchSchema)) ?? 1;
  const named = permissionsOf("gateway", shards)
    .publish.filter((subject) => subject.startsWith(infoPrefix))
    .map((subject) => subject.slice(infoPrefix.length));
  // One that nobody has used yet is missing.
  const read = await Promise.allSettled(named.map((name) => manager.streams.info(name)));
  const streams = read
    .flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []))
    .map(({ config, state: { bytes, messages } }) => ({ name: config.name, bytes, messages }))
    .toSorted((one, other) => other.bytes - one.bytes)
    .slice(0, maxStreams);
  return {
    bytes: account.storage,
    maxBytes: Math.max(0, account.limits.max_storage),
    streams,
  };
}
