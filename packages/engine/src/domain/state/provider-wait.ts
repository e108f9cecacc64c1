import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { waitsForProvider } from "../model/retry-delay.ts";
import type { RunState } from "./run-state.ts";
import { resumed, workedMs } from "./worked-time.ts";

/**
 * Returns the state with its worked time stopped while a failed model call waits for its next attempt. The failed attempt
 * counts as waiting too: the provider, not the run, spent its time.
 */
export function withProviderWait(state: RunState, { event, time }: RunEvent): RunState {
  const { worked, frames } = state;
  if (!worked.waitsForProvider && event.case !== "modelCallFailed") return state;
  const waiting = [...frames.values()].flatMap(({ modelCall }) =>
    modelCall !== undefined && waitsForProvider(modelCall) ? [modelCall] : [],
  );
  const waits = waiting.length > 0;
  if (waits === worked.waitsForProvider) return state;
  const nowMs = time === undefined ? worked.lastMs : timestampMs(time);
  if (!waits) {
    return { ...state, worked: resumed({ ...worked, waitsForProvider: false }, nowMs) };
  }
  // The time of this attempt ends where it began, but not before the current period.
  const startedMs = Math.min(...waiting.map(({ startedAtMs }) => startedAtMs));
  const pastMs = workedMs(worked, Math.min(startedMs, nowMs));
  return { ...state, worked: { ...worked, pastMs, sinceMs: undefined, waitsForProvider: true } };
}
