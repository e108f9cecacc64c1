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
    if (isWithin(abandonedMs, nowMs, rebuild.heartbeatAt)) return undefined;
  }
  if (rebuild !== undefined && rebuild.failed > 0n) {
    if (isWithin(repeatMs, nowMs, rebuild.endedAt)) return undefined;
  }
  if (state.bucketInstance !== bucketInstance) return "thorough";
  if (state.requests > state.fulfilledRequests) return "thorough";
  return isWithin(intervalMs, nowMs, state.rebuiltAt) ? undefined : "quick";
}

/** Whether a time is less than `ms` away. One in the future was written by a process whose clock was ahead. */
function isWithin(ms: number, nowMs: number, time: Timestamp | undefined): boolean {
  return Math.abs(nowMs - (time === undefined ? 0 : timestampMs(time))) < ms;
}
