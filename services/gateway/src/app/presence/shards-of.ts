import { createHash } from "node:crypto";
import { shardCount } from "@reeve/jetstream/local-index/agenda";

/** Returns the shards for which no other name ranks higher. A name that comes or goes moves only its own shards. */
export function shardsOf(self: string, names: readonly string[]): readonly number[] {
  const shards = Array.from({ length: shardCount }, (_, shard) => shard);
  return shards.filter((shard) => {
    const own = rank(self, shard);
    return names.every((name) => name === self || rank(name, shard) < own);
  });
}

function rank(name: string, shard: number): string {
  return createHash("sha256").update(`${name} ${shard}`).digest("hex");
}
