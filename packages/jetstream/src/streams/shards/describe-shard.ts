import type { Shard } from "@reeve/contracts/channel";

/** Returns what the description of a stream says about its shard. Streams of nats-server 2.9 have no metadata. */
export function describeShard({ index, count }: Shard): string {
  return `shard ${index} of ${count}`;
}

/** Returns the number of shards that the description of one of them names; undefined if it is of none. */
export function describedCount(description: string): number | undefined {
  const count = /, shard \d+ of (\d+)$/.exec(description)?.[1];
  return count === undefined ? undefined : Number(count);
}
