import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Projection } from "@reeve/contracts/projection";

/** A rebuild without a sign of life for this long is abandoned. */
const abandonedMs = 30_000;
/** Delay before a rebuild that failed for some logs is repeated. */
const repeatMs = 60_000;

/**
 * Returns how to compare the projection with its logs now; undefined: not now. A new bucket and a request require a thorough
 * comparison. `intervalMs` is the interval between rebuilds that nobody requested.
 */
export function comparisonOf(
  state: Projection,
  bucketInstance: string,
  { nowMs, intervalMs }: { readonly nowMs: number; readonly intervalMs: number },
): "thorough" | "quick" | undefined {
  const { rebuild } = state;
  if (rebuild !== undefined && rebuild.endedAt === undefined) {
    if (nowMs - msOf(rebuild.heartbeatAt) < abandonedMs) return undefined;
  }
  if (rebuild !== undefined && rebuild.failed > 0n) {
    if (nowMs - msOf(rebuild.endedAt) < repeatMs) return undefined;
  }
  const rebuiltMs = msOf(state.rebuiltAt);
  if (state.bucketInstance !== bucketInstance) return "thorough";
  if (state.requests > state.fulfilledRequests) return "thorough";
  return nowMs - rebuiltMs >= intervalMs ? "quick" : undefined;
}

function msOf(time: Timestamp | undefined): number {
  return time === undefined ? 0 : timestampMs(time);
}
