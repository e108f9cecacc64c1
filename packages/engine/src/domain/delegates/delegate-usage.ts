import type { RunEvent } from "@reeve/contracts/run";
import { charge } from "@reeve/run/head/ledger";
import type { DelegateUsage, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { delegateFrames } from "./callers-of.ts";

/**
 * Charges an event of a frame to the delegates that the frame works for. The agent of the run pays for reviews: advice must not end a delegate
 * whose call a person may be about to approve.
 */
export function chargeDelegates(state: RunState, envelope: RunEvent): RunState {
  const frame = state.frames.get(envelope.parentId);
  if (frame?.delegate === undefined || envelope.event.case === "approval") return state;
  return withUsage(state, frame, (used) => {
    const spent = charge(used.spent, envelope);
    return spent === used.spent ? used : { ...used, spent };
  });
}

/** Changes what the delegates have used that a frame works for. */
export function withUsage(
  state: RunState,
  frame: Frame,
  change: (used: DelegateUsage) => DelegateUsage,
): RunState {
  if (frame.delegate === undefined) return state;
  let { frames } = state;
  for (const began of delegateFrames(state, frame)) {
    const used = began.used && change(began.used);
    if (used === began.used) continue;
    frames = new Map(frames).set(began.id, { ...began, used });
  }
  return frames === state.frames ? state : { ...state, frames };
}
