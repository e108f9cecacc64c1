import type { ChannelTemplate } from "@reeve/contracts/channel";

/** Returns the name of the row with the position of a feed in a stream. */
export function positionName(feed: string, { shard }: Pick<ChannelTemplate, "shard">): string {
  return shard === undefined ? feed : `${feed}-${shard.index}`;
}
