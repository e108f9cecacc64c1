import { createHash } from "node:crypto";
import type { Tokens } from "../channel.ts";

/** The maximum number of shards of a store. */
export const maxShards = 64;

/** Returns the index of the shard that has the messages of a subject. `tokens` are in the order of the placeholders of the subject. */
export function shardOf(tokens: Tokens, count: number): number {
  if (count === 1) return 0;
  const name = Object.values(tokens).join(".");
  return createHash("sha256").update(name).digest().readUInt32BE() % count;
}
