import type { DescMessage } from "@bufbuild/protobuf";
import type { ChannelTemplate } from "@reeve/contracts/channel";
import { channelOf } from "@reeve/contracts/channel";
import type { Place } from "../../sealing/payload-cipher.ts";

/**
 * Returns the place of the log that a channel stores under `subject`. The name of a log, which its digests and its encryption cover, does
 * not depend on the shards of the store.
 */
export function placeOfLog(schema: DescMessage, channel: ChannelTemplate, subject: string): Place {
  const tokens = channel.tokensOf(subject);
  const tenant = tokens?.["tenant"] ?? "";
  if (channel.shard === undefined || tokens === undefined) return { tenant, name: subject };
  return { tenant, name: channelOf(schema).subject(tokens) };
}
