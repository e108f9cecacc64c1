import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { channelOf } from "@reeve/contracts/channel";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ToolCallJournalSchema } from "@reeve/contracts/tool";

/** How far the clocks of a runtime, a toolhost, and the store may be apart. */
const maxClockDifferenceMs = 3_600_000;

/**
 * Whether a call without a journal may have had one that the store has deleted. A journal begins after its request, so it
 * cannot have expired before the request itself is that old.
 */
export function journalMayHaveExpired(
  { requestedAt }: Pick<ToolCallRequest, "requestedAt">,
  nowMs: number,
): boolean {
  const maxAge = channelOf(ToolCallJournalSchema).stream?.maxAge;
  if (maxAge === undefined || requestedAt === undefined) return false;
  return nowMs - timestampMs(requestedAt) >= durationMs(maxAge) - maxClockDifferenceMs;
}
