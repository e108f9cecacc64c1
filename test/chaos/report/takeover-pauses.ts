import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";

/** Longer than any takeover, and shorter than any step of a clock. */
const maxPauseMs = 300_000;

/**
 * Returns the time of each takeover of a run, in milliseconds: from the last event of the previous owner to the claim of the next
 * one. An owner that waits for a model or a tool writes nothing, so this is the upper bound of the time without an owner. A claim
 * after a park is no takeover. Takeovers whose times a stepped clock wrote are left out. `awayMs` returns the part of an interval that does not
 * count. Default: everything counts.
 */
export function takeoverPauses(
  stored: readonly RunEvent[],
  awayMs: (fromMs: number, toMs: number) => number = () => 0,
): readonly number[] {
  const pauses: number[] = [];
  let isOwned = false;
  for (const [index, { event, time }] of stored.entries()) {
    if (event.case === "runParked") isOwned = false;
    if (event.case !== "runClaimed") continue;
    const before = stored[index - 1]?.time;
    if (isOwned && time !== undefined && before !== undefined) {
      const [fromMs, toMs] = [timestampMs(before), timestampMs(time)];
      const pauseMs = toMs - fromMs;
      if (pauseMs >= 0 && pauseMs <= maxPauseMs) pauses.push(pauseMs - awayMs(fromMs, toMs));
    }
    isOwned = true;
  }
  return pauses;
}
