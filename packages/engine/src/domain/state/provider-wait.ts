import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ModelCallFailed, RunEvent } from "@reeve/contracts/run";
import { waitsForProvider } from "../model/retry-delay.ts";
import type { RunState } from "./run-state.ts";
import { frameOfEvent } from "./run-state.ts";
import { resumed, workedMs } from "./worked-time.ts";

/**
 * Returns the state after an event of a model call with the time that providers took removed from its worked time: the time
 * is stopped while a failed call waits for its next attempt, and a failed attempt itself does not count, whether another
 * attempt, another model, or nothing follows it. The provider, not the run, spent its time.
 */
export function withProviderWait(before: RunState, state: RunState, envelope: RunEvent): RunState {
  const { event, time } = envelope;
  const { worked, frames } = state;
  const isFailure = event.case === "modelCallFailed";
  if (!worked.waitsForProvider && !isFailure) return state;
  const waits = [...frames.values()].some(
    ({ modelCall }) => modelCall !== undefined && waitsForProvider(modelCall),
  );
  // Another failed call has stopped the time.
  if (waits && worked.waitsForProvider) return state;
  const nowMs = time === undefined ? worked.lastMs : timestampMs(time);
  if (worked.waitsForProvider) {
    return { ...state, worked: resumed({ ...worked, waitsForProvider: false }, nowMs) };
  }
  const startedMs = isFailure ? startOf(before, envelope, event.value) : undefined;
  if (startedMs === undefined) return state;
  const spent = { ...worked, pastMs: workedMs(before.worked, Math.min(startedMs, nowMs)) };
  const stopped = { ...spent, sinceMs: undefined, waitsForProvider: waits };
  return { ...state, worked: resumed(stopped, nowMs) };
}

/** Returns when a failed attempt began. Undefined: a version that did not number its attempts wrote the failure. */
function startOf(
  before: RunState,
  envelope: RunEvent,
  { attempt }: ModelCallFailed,
): number | undefined {
  return attempt > 0 ? frameOfEvent(before, envelope)?.modelCall?.startedAtMs : undefined;
}
